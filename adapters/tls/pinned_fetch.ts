import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import https from "node:https";
import tls from "node:tls";

/** What `pinnedFetch` resolves to: the part of a response that its callers read. */
export interface PinnedResponse {
  readonly status: number;
  text(): Promise<string>;
}

export interface PinnedRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/**
 * Asks a server of this machine whose certificate is in a file: it is compared as a whole, because it
 * names no loopback address and its authority may be unknown here. The file is read for each connection,
 * since it changes. Rejects when there is no connection, or no answer before `signal`.
 */
export function pinnedFetch(file: string) {
  const agent = new https.Agent({ keepAlive: true });
  Object.assign(agent, {
    createConnection: (options: tls.ConnectionOptions) => {
      // The comparison below takes the place of the check of the authority.
      const socket = tls.connect({ ...options, rejectUnauthorized: false });
      socket.once("secureConnect", () => {
        const { raw } = socket.getPeerCertificate();
        const why = `the server does not show the certificate of "${file}"`;
        if (!isOf(raw, file)) socket.destroy(new Error(why));
      });
      return socket;
    },
  });
  return (url: string, { body, ...options }: PinnedRequest): Promise<PinnedResponse> =>
    new Promise((resolve, reject) => {
      const request = https.request(url, { ...options, agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({ status: response.statusCode ?? 0, text: () => Promise.resolve(text) });
        });
      });
      request.on("error", reject);
      request.end(body);
    });
}

function isOf(shown: Buffer | undefined, file: string): boolean {
  return shown !== undefined && new X509Certificate(readFileSync(file)).raw.equals(shown);
}
