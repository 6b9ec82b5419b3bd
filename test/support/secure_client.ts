import http2 from "node:http2";
import https from "node:https";
import type { SecureContextOptions } from "node:tls";

export interface SecureAnswer {
  readonly status: number;
  readonly body: string;
  /** The common name of the certificate that the server showed. */
  readonly shown: string;
}

export interface SecureRequest extends SecureContextOptions {
  readonly version?: "h1" | "h2";
  readonly headers?: Readonly<Record<string, string>>;
  /** With it the method is POST. */
  readonly body?: string;
}

/** Asks a server over TLS on a connection of its own. Rejects with the error of the connection. */
export function askSecurely(url: string, request: SecureRequest): Promise<SecureAnswer> {
  return request.version === "h2" ? askH2(url, request) : askH1(url, request);
}

function askH1(
  url: string,
  { version: _, headers = {}, body, ...context }: SecureRequest,
): Promise<SecureAnswer> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const request = https.request(url, { ...context, method, headers, agent: false }, (answer) => {
      const { subject } = (answer.socket as import("node:tls").TLSSocket).getPeerCertificate();
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk) => text += chunk);
      answer.on("error", reject).on("end", () => {
        const { statusCode: status = 0 } = answer;
        resolve({ status, body: text, shown: String(subject.CN) });
      });
    });
    request.on("error", reject).end(body);
  });
}

function askH2(
  url: string,
  { version: _, headers = {}, body, ...context }: SecureRequest,
): Promise<SecureAnswer> {
  return new Promise((resolve, reject) => {
    const { origin, pathname } = new URL(url);
    const session = http2.connect(origin, context).on("error", reject);
    const method = body === undefined ? "GET" : "POST";
    const stream = session.request({ ...headers, ":method": method, ":path": pathname });
    let text = "", status = 0;
    stream.on("response", (head) => status = head[":status"] ?? 0);
    stream.setEncoding("utf8").on("data", (chunk) => text += chunk).on("error", reject);
    stream.on("end", () => {
      const { subject } = (session.socket as import("node:tls").TLSSocket).getPeerCertificate();
      session.close();
      resolve({ status, body: text, shown: String(subject.CN) });
    });
    stream.end(body);
  });
}
