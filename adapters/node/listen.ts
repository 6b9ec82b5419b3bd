import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Server as SecureServer } from "node:https";
import {
  constants,
  type Http2ServerRequest,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo, ListenOptions as NetListenOptions } from "node:net";
import { limitedLog } from "../../src/observe/limited_log.ts";
import type { Log } from "../../src/ports.ts";
import { bridgeTo } from "./bridge.ts";
import { divertHttp2 } from "./divert_http2.ts";
import { http1Server } from "./http1_server.ts";
import { INACTIVITY_MS } from "./http2_keepalive.ts";
import { joinCookies } from "./join_cookies.ts";
import { http2Server } from "./http2_server.ts";
import { pipelined } from "./pipelines.ts";
import { UnreadAnswers } from "./unread_answers.ts";
import { accepted } from "../platform/accepting.ts";
import { type Listener, type ListenOptions, NO_LIMITS } from "../platform/listener.ts";
import { OpenConnections } from "../platform/open_connections.ts";
import { guardPort } from "../tls/secure_port.ts";

/** A longer request target → 414 (docs/spec/runtimes.md#listeners). */
const TARGET_CHARS_MAX = 65_534;

/**
 * Serves HTTP/1.1 and cleartext HTTP/2 with prior knowledge on one port
 * (docs/spec/runtimes.md#listeners). Slow unless `installBridge` was called. Rejects with node's
 * error (`code` EADDRINUSE, EACCES …) when it cannot listen on the address.
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { limits = NO_LIMITS, log } = options;
  const state = { draining: false };
  const limited = limitedLog(log, () => Date.now());
  const unread = new UnreadAnswers(limits, limited);
  const answer = answerWith(options, unread);
  const http1 = http1Server(pipelined(answer, unread), {
    ...options,
    state,
    unread,
    limits,
  });
  limitConnections(http1, limits.connectionsMax, limited);
  const endHandshakes = options.tls ? guardPort(http1 as SecureServer, options.tls, log) : () => {};
  const { open = new OpenConnections(), inactivityMs = INACTIVITY_MS } = options;
  const http2 = http2Server(answer as never, {
    ...{ inactivityMs, open, unread, limits },
    log: limited,
  });
  const fresh = divertHttp2(http1, http2.server, {
    timeoutMs: limits.headTimeoutMs,
    open,
    log,
  });
  // One that is dropped takes a turn of the loop as well.
  http1.on("connection", accepted).on("drop", accepted);
  await listening(http1, options);
  return {
    url: urlOf(http1.address() as AddressInfo, options.tls ? "https" : "http"),
    async close(drainMs) {
      state.draining = true;
      endHandshakes();
      for (const socket of fresh) socket.destroy();
      await drain(http1, http2.sessions, drainMs);
      unread.close();
    },
  };
}

/** Types of Node 20 do not know `reusePort`. */
type ListenOptionsOfNode = NetListenOptions & { readonly reusePort: boolean };

/** Resolves when the server listens. Rejects as `listen` does. */
async function listening(
  server: Server,
  { host, port, log, isShared = false }: ListenOptions,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(
      { host, port, backlog: 4096, reusePort: isShared } as ListenOptionsOfNode,
      resolve,
    );
  });
  server.removeAllListeners("error");
  // Once it listens, only accept() can fail (no file descriptors left): log it and continue.
  server.on(
    "error",
    (cause) => log("error", "Cannot accept a connection", { cause: String(cause) }),
  );
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Closes connections beyond so many as soon as they are accepted. Their clients may try again. */
function limitConnections(server: Server, connectionsMax: number, log: Log): void {
  if (connectionsMax === Infinity) return;
  server.maxConnections = connectionsMax;
  server.on("drop", () => {
    log("warn", "A connection is closed: as many are open as may be", { limit: connectionsMax });
  });
}

function answerWith(options: ListenOptions, unread: UnreadAnswers): Answer {
  const { limits = NO_LIMITS } = options;
  const bridge = bridgeTo(options);
  return (request, response) => {
    if (request.rawHeaders.length > 2 * limits.headLinesMax) {
      return refuseHead(431, request, response);
    }
    if (request.url!.length > TARGET_CHARS_MAX) return refuseHead(414, request, response);
    // What a connection of HTTP/1.1 may ask for is limited by `pipelined`.
    if (request.httpVersionMajor === 2) {
      // Node keeps to this limit once the client has acknowledged it, and a client need not.
      if (isLarger(request.rawHeaders, limits.headBytesMax)) {
        return refuseHead(431, request, response);
      }
      const { session } = (request as unknown as Http2ServerRequest).stream;
      // It was closed while the requests that came with this one began.
      if (!session || session.destroyed) return;
      if (unread.isFull(session)) return refuseFull(response);
      limitBody((request as unknown as Http2ServerRequest).stream, limits.requestTimeoutMs);
      joinCookies(request.rawHeaders);
    }
    bridge(request, response);
  };
}

/** Node limits the time of a request over HTTP/1.1 by itself, and of none over HTTP/2. */
function limitBody(stream: ServerHttp2Stream, timeoutMs: number): void {
  if (timeoutMs === 0 || stream.endAfterHeaders) return;
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), timeoutMs);
  timer.unref();
  const clear = () => clearTimeout(timer);
  stream.once("end", clear);
  stream.once("close", clear);
}

function isLarger(head: readonly string[], bytesMax: number): boolean {
  let bytes = 0;
  for (const text of head) bytes += text.length;
  return bytes > bytesMax;
}

/** The answer to a request over a connection that holds as many unread answers as it may. */
function refuseFull(response: ServerResponse): void {
  const message = "this connection holds too many answers that were not read: read them first, " +
    "or use another connection";
  response.writeHead(503, { "content-type": "application/json", "retry-after": "1" });
  response.end(JSON.stringify({ code: 503, message }));
}

function refuseHead(status: number, request: IncomingMessage, response: ServerResponse): void {
  const close = request.httpVersionMajor === 1 ? { connection: "close" } : {};
  response.writeHead(status, { "content-length": "0", ...close });
  response.end();
}

async function drain(
  http1: Server,
  sessions: ReadonlySet<ServerHttp2Session>,
  drainMs: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => http1.close(() => resolve()));
  for (const session of sessions) session.close();
  // A keep-alive connection whose answer had begun before is idle once it has ended.
  const sweep = setInterval(() => http1.closeIdleConnections(), 50);
  const deadline = setTimeout(() => {
    http1.closeAllConnections();
    for (const session of sessions) session.destroy();
  }, drainMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
}

function urlOf({ address, family, port }: AddressInfo, scheme: "http" | "https"): string {
  if (address === "0.0.0.0" || address === "::") return `${scheme}://127.0.0.1:${port}`;
  return `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
