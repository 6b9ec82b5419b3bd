import { Buffer } from "node:buffer";
import http from "node:http";
import https from "node:https";
import { clearTimeout, setTimeout } from "node:timers";
import { NotSent, type Post, type Posted } from "../../src/placement/partition_client.ts";

/** Servers close idle connections after a minute or so; better we do it first. */
const IDLE_MS = 30_000;
const CONNECT_MS = 2_000;

/** A call that waits keeps its connection for as long as it takes: there is no most. */
const options = { keepAlive: true, maxFreeSockets: 256, timeout: IDLE_MS };
const plain = new http.Agent(options);
const secure = new https.Agent(options);

/**
 * Requests to other processes of the fleet, by `node:http` on Node and on Deno: half of what `fetch`
 * costs, no limit to how long an answer may take, and it is known whether there was a connection.
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
  // A `Uint8Array` over the same memory would show all of a pool.
  return { status, arrayBuffer: () => Promise.resolve(new Uint8Array(body).buffer) };
}
