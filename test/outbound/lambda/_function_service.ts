import { createHash, createHmac } from "node:crypto";
import http, { type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** One call that the simulated cloud received. */
export interface Seen {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

/** Keys that the simulated cloud knows, by id. */
export const SECRETS: Record<string, string> = { AKIDOWN: "own secret", AKIDLENT: "lent secret" };

/**
 * Simulates the services of a cloud: verifies signatures with code of its own, and returns what the
 * test says. A call with a bad signature gets 403, as from the real ones.
 */
export async function startCloud(answer: (seen: Seen) => Reply | Promise<Reply>) {
  const seen: Seen[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const call = {
      path: request.url ?? "",
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    seen.push(call);
    const wrong = whyUnsigned(request.method ?? "", call);
    const { status = 200, headers = {}, body } = wrong
      ? { status: 403, body: JSON.stringify({ Message: wrong }) }
      : await answer(call);
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise((resolve) => server.closeAllConnections() ?? server.close(resolve));
  return { url: `http://127.0.0.1:${port}`, seen, close };
}

const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const mac = (key: string | Uint8Array, text: string) =>
  createHmac("sha256", key).update(text).digest();

/** The signing process of the cloud, from its documentation. */
function whyUnsigned(method: string, { path, headers, body }: Seen): string | undefined {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d+)\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;
  const [, id = "", day = "", region = "", service = "", names = "", signature] =
    pattern.exec(headers.authorization ?? "") ?? [];
  if (!signature) return "there is no signature";
  const encoded = path.split("/").map((part) =>
    encodeURIComponent(part).replace(/[!'()*]/g, (it) => `%${it.charCodeAt(0).toString(16)}`)
  );
  const canonical = [
    method,
    encoded.join("/"),
    "",
    ...names.split(";").map((name) => `${name}:${headers[name]}`),
    "",
    names,
    hash(body),
  ];
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hash(canonical.join("\n"))];
  const key = [day, region, service, "aws4_request"].reduce<string | Uint8Array>(
    mac,
    `AWS4${SECRETS[id]}`,
  );
  const expected = mac(key, text.join("\n")).toString("hex");
  if (expected !== signature) return "The signature does not match";
  const isHost = names.split(";").includes("host") && names.split(";").includes("x-amz-date");
  return isHost ? undefined : "host and time must be signed";
}
