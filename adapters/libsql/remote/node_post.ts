import { Buffer } from "node:buffer";
import http from "node:http";
import https from "node:https";
import type { HttpResponse, Post, PostRequest } from "./open.ts";

/** More sockets than requests that are ever in flight: a few writes and some reads. */
const SOCKETS_MAX = 64;
/** Shorter than servers keep idle connections, so that none is closed while it is being reused. */
const IDLE_MS = 30_000;

const options = { keepAlive: true, maxSockets: SOCKETS_MAX, timeout: IDLE_MS };
const plain = new http.Agent(options);
const secure = new https.Agent(options);

/**
 * Requests by `node:http`, on connections that are kept. Node's `fetch` takes more than twice the
 * time of a processor for the same (docs/spec/storage-layout.md#remote-databases).
 */
export const nodePost: Post = (url, request) => {
  const isSecure = url.startsWith("https:");
  return send(url, request, { agent: isSecure ? secure : plain, isSecure });
};

function send(
  url: string,
  { method, headers, body, signal }: PostRequest,
  { agent, isSecure }: { readonly agent: http.Agent; readonly isSecure: boolean },
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const give = isSecure ? https.request : http.request;
    const request = give(url, {
      method,
      agent,
      signal,
      headers: { ...Object.fromEntries(headers), "content-length": body.length },
    }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve(answer(response, Buffer.concat(chunks))));
      response.on("error", fail);
      response.on(
        "close",
        () => fail(new Error("the connection broke in the middle of an answer")),
      );
    });
    request.on("error", fail);
    request.setNoDelay(true);
    request.end(body);

    function fail(cause: Error): void {
      reject(signal.aborted ? new Error("no answer in time", { cause }) : cause);
    }
  });
}

function answer({ statusCode = 0, headers }: http.IncomingMessage, body: Buffer): HttpResponse {
  const text = () => body.toString("utf8");
  return {
    ok: statusCode >= 200 && statusCode < 300,
    status: statusCode,
    headers: { get: (name) => first(headers[name.toLowerCase()]) },
    text: () => Promise.resolve(text()),
    // A body that is not JSON is a rejection.
    json: async () => JSON.parse(text()),
    arrayBuffer: () => Promise.resolve(new Uint8Array(body).buffer),
    body: null,
  };
}

function first(value: string | string[] | undefined): string | null {
  return Array.isArray(value) ? value[0] ?? null : value ?? null;
}
