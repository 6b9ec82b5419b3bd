import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  ServerResponse,
  STATUS_CODES,
} from "node:http";
import { createServer as createSecureServer, type Server as SecureServer } from "node:https";
import {
  createServer as createHttp2Server,
  type Http2Server,
  Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "srvx/node";
import { divertHttp2 } from "./divert_http2.ts";
import { endUnresponsive, INACTIVITY_MS } from "./http2_keepalive.ts";
import type { Listener, ListenOptions } from "../platform/listener.ts";
import { OpenConnections } from "../platform/open_connections.ts";
import { guardPort, secureOptions } from "../tls/secure_port.ts";

/**
 * The reference's limits (docs/spec/runtimes.md#listeners): more header lines → 431, a longer head
 * → 431.
 */
const HEADERS_MAX = 100;
const HEAD_BYTES_MAX = 128 * 1024;
/** A longer request target → 414 (docs/spec/runtimes.md#listeners). */
const TARGET_CHARS_MAX = 65_534;
/** docs/spec/runtimes.md#listeners */
const STREAMS_MAX = 200;
const WINDOW_BYTES = 1024 * 1024;
const KEEP_ALIVE_MS = 75_000;
const HEADERS_TIMEOUT_MS = 60_000;
/** Node resets an HTTP/2 stream with a higher status instead of sending it. */
const HTTP2_STATUS_MAX = 599;

/**
 * Serves HTTP/1.1 and cleartext HTTP/2 with prior knowledge on one port
 * (docs/spec/runtimes.md#listeners). Slow unless `installBridge` was called. Rejects with node's
 * error (`code` EADDRINUSE, EACCES …) when it cannot listen on the address.
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const headersTimeoutMs = options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS;
  const state = { draining: false };
  const answer = answerWith(options);
  const http1 = http1Server(answer, { ...options, state, headersTimeoutMs });
  const endHandshakes = options.tls
    ? guardPort(http1 as SecureServer, options.tls, options.log)
    : () => {};
  const { open = new OpenConnections(), inactivityMs = INACTIVITY_MS } = options;
  const http2 = http2Server(answer, { inactivityMs, open });
  const fresh = divertHttp2(http1, http2.server, {
    timeoutMs: headersTimeoutMs,
    open,
    log: options.log,
  });
  await new Promise<void>((resolve, reject) => {
    http1.once("error", reject);
    http1.listen({ host: options.host, port: options.port, backlog: 4096 }, resolve);
  });
  http1.removeAllListeners("error");
  // Once it listens, only accept() can fail (no file descriptors left): log it and continue.
  http1.on(
    "error",
    (cause) => options.log("error", "Cannot accept a connection", { cause: String(cause) }),
  );
  return {
    url: urlOf(http1.address() as AddressInfo, options.tls ? "https" : "http"),
    async close(drainMs) {
      state.draining = true;
      endHandshakes();
      for (const socket of fresh) socket.destroy();
      await drain(http1, http2.sessions, drainMs);
    },
  };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

function answerWith({ handler, log }: ListenOptions): Answer {
  const failed = (cause: unknown, request: Request): Response => {
    // A caller that went away in the middle of its body is no failure of ours.
    if (request.signal.aborted) log("debug", "The caller went away", { cause: String(cause) });
    else log("error", "A request handler failed", { cause: stackOf(cause) });
    return new Response("internal server error", { status: 500 });
  };
  const bridge = toNodeHandler((request: Request) => {
    try {
      const response = handler(request);
      return response instanceof Response
        ? response
        : response.catch((cause) => failed(cause, request));
    } catch (cause) {
      return failed(cause, request);
    }
  });
  return (request, response) => {
    if (request.rawHeaders.length > 2 * HEADERS_MAX) return refuseHead(431, request, response);
    if (request.url!.length > TARGET_CHARS_MAX) return refuseHead(414, request, response);
    void (bridge as Answer)(request, response);
  };
}

function refuseHead(status: number, request: IncomingMessage, response: ServerResponse): void {
  const close = request.httpVersionMajor === 1 ? { connection: "close" } : {};
  response.writeHead(status, { "content-length": "0", ...close });
  response.end();
}

interface Http1Options extends Pick<ListenOptions, "tls"> {
  readonly state: { readonly draining: boolean };
  readonly headersTimeoutMs: number;
}

function http1Server(
  answer: Answer,
  { tls, state, headersTimeoutMs: headersTimeout }: Http1Options,
): Server {
  class Outgoing extends ServerResponse<IncomingMessage> {
    override writeHead(status: number, ...rest: unknown[]): this {
      // A server that stops makes its callers open another connection for their next request.
      if (state.draining) this.shouldKeepAlive = false;
      const headers = rest.find((one) => typeof one === "object") as OutgoingHttpHeaders;
      return super.writeHead(status, STATUS_CODES[status] ?? "", headers);
    }
  }
  const options = {
    maxHeaderSize: HEAD_BYTES_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout,
    connectionsCheckingInterval: Math.min(30_000, headersTimeout / 2),
    // Callers may wait for ever (docs/spec/ingress.md#connections), and bodies may be slow.
    requestTimeout: 0,
    noDelay: true,
    // No path depends on it, and the reference does not require it.
    requireHostHeader: false,
    ServerResponse: Outgoing as typeof ServerResponse,
  };
  const server = tls
    ? createSecureServer({ ...options, ...secureOptions(tls) }, answer)
    : createServer(options, answer);
  server.timeout = 0;
  // Expectations other than 100-continue are left to the handler, like any other header.
  server.on("checkExpectation", answer);
  // Node drops header lines beyond this silently: count one more than we allow, then refuse.
  server.maxHeadersCount = HEADERS_MAX + 1;
  return server;
}

function http2Server(
  answer: Answer,
  { inactivityMs, open }: { readonly inactivityMs: number; readonly open: OpenConnections },
): { server: Http2Server; sessions: Set<ServerHttp2Session> } {
  class Outgoing extends Http2ServerResponse {
    override writeHead(status: number, ...rest: never[]): this {
      // A handler may fail with any code; the body still contains it.
      return super.writeHead(status > HTTP2_STATUS_MAX ? 500 : status, ...rest);
    }
  }
  const sessions = new Set<ServerHttp2Session>();
  const server = createHttp2Server({
    settings: {
      maxConcurrentStreams: STREAMS_MAX,
      initialWindowSize: WINDOW_BYTES,
      maxHeaderListSize: HEAD_BYTES_MAX,
    },
    maxHeaderListPairs: 2 * HEADERS_MAX,
    Http2ServerResponse: Outgoing as typeof Http2ServerResponse,
  }, answer as never);
  server.setTimeout(0);
  server.on("stream", (stream) => open.addStream(stream));
  server.on("session", (session) => {
    sessions.add(session);
    session.setLocalWindowSize(4 * WINDOW_BYTES);
    endUnresponsive(session, inactivityMs);
    // Without a listener, a broken connection of an untrusted client would end this process.
    session.on("error", () => session.destroy());
    session.once("close", () => sessions.delete(session));
  });
  return { server, sessions };
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

function stackOf(cause: unknown): string {
  return cause instanceof Error ? cause.stack ?? String(cause) : String(cause);
}
