import { Buffer } from "node:buffer";
import http from "node:http";
import https from "node:https";
import { clearTimeout, setTimeout } from "node:timers";
import { NotSent, type Post, type Posted } from "../../src/placement/partition_client.ts";

/** Shorter than servers keep idle connections, so that none is closed while it is being reused. */
const IDLE_MS = 30_000;
const CONNECT_MS = 2_000;

/** A call that waits keeps its connection for as long as it takes, so their number is not limited. */
const options = { keepAlive: true, maxFreeSockets: 256, timeout: IDLE_MS };
const plain = new http.Agent(options);
const secure = new https.Agent(options);

/**
 * Sends requests to other processes of the fleet, by `node:http` on Node and on Deno: it costs half of
 * `fetch`, does not limit how long a response takes, and tells whether there was a connection. Rejects
 * with `NotSent` when there was none, so that the request was certainly not applied.
 */
export const fleetPost: Post = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const isSecure = url.startsWith("https:");
    const give = isSecure ? https.request : http.request;
    const request = give(url, {
      method,
      signal,
      agent: isSecure ? secure : plain,
      headers: { ...headers, "content-length": body.length },
    }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve(posted(response.statusCode ?? 0, Buffer.concat(chunks))));
      response.on("error", reject);
      response.on("close", () => reject(new Error("the connection broke in an answer")));
    });
    let isConnected = false;
    request.on("socket", (socket) => {
      if (!socket.connecting) return void (isConnected = true);
      const timer = setTimeout(
        () => request.destroy(new Error("no connection in time")),
        CONNECT_MS,
      );
      socket.once("connect", () => isConnected = true);
      socket.once(isSecure ? "secureConnect" : "connect", () => clearTimeout(timer));
      socket.once("close", () => clearTimeout(timer));
    });
    request.on(
      "error",
      (cause) => reject(isConnected ? cause : new NotSent(cause.message, { cause })),
    );
    request.setNoDelay(true);
    request.end(body);
  });

function posted(status: number, body: Buffer): Posted {
  // Copied: the buffer of `body` may be a pool that holds other data, too.
  return { status, arrayBuffer: () => Promise.resolve(new Uint8Array(body).buffer) };
}
