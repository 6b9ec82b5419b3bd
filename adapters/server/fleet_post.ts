import { Buffer } from "node:buffer";
import http from "node:http";
import https from "node:https";
import { clearTimeout, setTimeout } from "node:timers";
import tls from "node:tls";
import {
  NotSent,
  type Post,
  type Posted,
  Untrusted,
} from "../../src/placement/partition_client.ts";
import { describeTls, type OutgoingTls } from "../tls/outgoing.ts";

/** Shorter than servers keep idle connections, so that none is closed while it is being reused. */
const IDLE_MS = 30_000;
const CONNECT_MS = 2_000;

/** A call that waits keeps its connection for as long as it takes, so their number is not limited. */
const options = { keepAlive: true, maxFreeSockets: 256, timeout: IDLE_MS };

/**
 * Sends requests to other processes of the fleet, by `node:http` on Node and on Deno: it costs half of
 * `fetch`, does not limit how long a response takes, and tells whether there was a connection. `over`:
 * the certificates of the fleet; absent, those of `https` addresses are verified as the system does.
 * Rejects with `NotSent` when there was no connection, so that the request was certainly not applied,
 * and with `Untrusted` when that is because of a certificate.
 */
export function fleetPost(over?: OutgoingTls): Post {
  const plain = new http.Agent(options);
  const secure = secureAgent(over);
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const isSecure = url.startsWith("https:");
      const request = (isSecure ? https : http).request(url, {
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
      const isConnected = watchConnection(request, isSecure);
      request.on(
        "error",
        (cause) => reject(isConnected() ? cause : notSent(cause, new URL(url))),
      );
      request.setNoDelay(true);
      request.end(body);
    });
}

/** Agents verify the name of the host by themselves, on connections that they open with our options. */
function secureAgent(over: OutgoingTls | undefined): https.Agent {
  const agent = new https.Agent(options);
  if (!over) return agent;
  // The context is asked for at each connection, because the files of certificates change.
  return Object.assign(agent, {
    createConnection: (to: tls.ConnectionOptions) =>
      tls.connect({ ...to, secureContext: over.context }),
  });
}

/** Ends a request without a connection in time. Returns a function that tells whether there was one. */
function watchConnection(request: http.ClientRequest, isSecure: boolean): () => boolean {
  let isConnected = false;
  const connect = isSecure ? "secureConnect" : "connect";
  request.on("socket", (socket) => {
    if (request.reusedSocket || !socket.connecting) return void (isConnected = true);
    const timer = setTimeout(
      () => request.destroy(new Error("no connection in time")),
      CONNECT_MS,
    );
    socket.once(connect, () => {
      isConnected = true;
      clearTimeout(timer);
    });
    socket.once("close", () => clearTimeout(timer));
  });
  return () => isConnected;
}

function notSent(cause: Error, { host }: URL): NotSent {
  const why = describeTls(cause, host, "fleet.tls");
  return why === undefined ? new NotSent(cause.message, { cause }) : new Untrusted(why, { cause });
}

function posted(status: number, body: Buffer): Posted {
  // Copied: the buffer of `body` may be a pool that holds other data, too.
  return { status, arrayBuffer: () => Promise.resolve(new Uint8Array(body).buffer) };
}
