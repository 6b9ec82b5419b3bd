import http2, { type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { DialFailure, DialListener, DialRequest, Exchange } from "../../src/dial.ts";
import {
  CONNECTION_WINDOW_BYTES,
  SENT_HEADERS_BYTES_MAX,
  STREAM_WINDOW_BYTES,
} from "../../src/http2/limits.ts";
import type { SessionSettings } from "../../src/http2/session.ts";
import type { Session, SessionOwner } from "../../src/http2/session_pool.ts";
import { failedExchange } from "../../src/pending_exchange.ts";
import type { Destination } from "../../src/outbound/egress/egress.ts";
import type { TlsOptionsFor } from "../tls/outgoing.ts";
import type { OpenConnections } from "../platform/open_connections.ts";
import { destinationOf, type Guard } from "./guard.ts";
import { connectFailure, describe } from "./h1.ts";
import { H2Exchange } from "./h2_exchange.ts";

/** Node refuses streams beyond this; our own limits (streams, windows) bind long before. */
const SESSION_MEMORY_MB = 1024;

export interface H2Settings extends SessionSettings {
  readonly tls: TlsOptionsFor;
  /** Where connections and streams are counted. */
  readonly connections: OpenConnections;
  /** Checks each connection that is opened. */
  readonly guard: Guard;
}

/** How a session is opened. */
export interface SessionOptions {
  readonly timeoutMs: number;
  /** A connection that has agreed on HTTP/2 already. */
  readonly socket?: TLSSocket;
}

/** One HTTP/2 session over TLS: it limits streams, sends PINGs and closes when idle. */
export class H2Session implements Session {
  readonly #session: ClientHttp2Session;
  readonly #settings: H2Settings;
  readonly #owner: SessionOwner;
  readonly #to: Destination;
  #streamsMax = 0;
  #open = 0;
  #idleSince = Date.now();
  #state: "connecting" | "ready" | "gone" = "connecting";
  /** Whether there has been a connection, and whether it timed out: the reasons in `#whyNever`. */
  #connected = false;
  #timedOut = false;
  #error: Error | undefined;
  #ticker: ReturnType<typeof setInterval> | undefined;

  constructor(
    origin: string,
    settings: H2Settings,
    { socket, timeoutMs, owner }: SessionOptions & { readonly owner: SessionOwner },
  ) {
    this.#settings = settings;
    this.#owner = owner;
    const to = this.#to = destinationOf(new URL(origin));
    const session = http2.connect(origin, {
      lookup: settings.guard.lookup(to),
      maxSessionMemory: SESSION_MEMORY_MB,
      maxSendHeaderBlockLength: SENT_HEADERS_BYTES_MAX,
      settings: { initialWindowSize: STREAM_WINDOW_BYTES, enablePush: false },
      ...settings.tls(to),
      ...(socket && { createConnection: () => socket }),
    });
    this.#session = session;
    settings.connections.add(session, "http2");
    const timer = setTimeout(() => {
      this.#timedOut = true;
      session.destroy(new Error(`no answer within ${timeoutMs} ms`));
    }, timeoutMs);
    session.on("connect", () => this.#connected = true);
    // An HTTP/2 server sends its settings first; they also limit the streams.
    session.on("remoteSettings", ({ maxConcurrentStreams = Infinity }) => {
      clearTimeout(timer);
      this.#streamsMax = Math.min(settings.streamsMax, Math.max(1, maxConcurrentStreams));
      this.#becomeReady();
    });
    session.on("error", (error) => this.#error = error);
    session.on("goaway", () => this.#leave());
    session.on("close", () => {
      clearTimeout(timer);
      this.#leave();
    });
  }

  get hasRoom(): boolean {
    return this.#open < this.#streamsMax && !this.#session.closed && !this.#session.destroyed;
  }

  open(path: string, request: DialRequest, listener: DialListener): Exchange {
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request(
        { ...request.headers, ":method": request.method, ":path": path },
        { endStream: request.method === "GET" },
      );
    } catch (cause) {
      // Any other error concerns this request only, or ends the session by itself.
      if ((cause as { code?: string }).code === "ERR_HTTP2_OUT_OF_STREAMS") this.#retire();
      return failedExchange(listener, { kind: "unreachable", message: describe(cause as Error) });
    }
    this.#settings.connections.addStream(stream);
    if (this.#open++ === 0) this.#session.ref();
    return new H2Exchange(stream, listener, () => {
      if (--this.#open === 0) this.#becomeIdle();
      this.#owner.room();
    });
  }

  destroy(): void {
    this.#session.destroy();
  }

  #becomeReady(): void {
    if (this.#state !== "connecting") return;
    this.#state = "ready";
    this.#session.setLocalWindowSize?.(CONNECTION_WINDOW_BYTES);
    this.#becomeIdle();
    this.#ticker = setInterval(
      () => this.#tick(),
      Math.min(this.#settings.pingMs, this.#settings.idleMs),
    );
    this.#ticker.unref?.();
    this.#owner.ready();
  }

  /** A session without streams does not keep the process alive. */
  #becomeIdle(): void {
    this.#idleSince = Date.now();
    if (!this.#session.destroyed) this.#session.unref();
  }

  #tick(): void {
    if (this.#open > 0) return this.#probe();
    if (Date.now() - this.#idleSince >= this.#settings.idleMs) this.#retire();
  }

  /** Destroys the session, and with it its streams, when the endpoint does not answer a PING. */
  #probe(): void {
    if (this.#session.destroyed) return;
    const { pingTimeoutMs } = this.#settings;
    const timer = setTimeout(
      () => this.#session.destroy(new Error(`no answer to a PING within ${pingTimeoutMs} ms`)),
      pingTimeoutMs,
    );
    timer.unref?.();
    this.#session.ping(() => clearTimeout(timer));
  }

  /** Takes no more streams, and closes with the last one. */
  #retire(): void {
    this.#leave();
    this.#session.close();
  }

  #leave(): void {
    if (this.#state === "gone") return;
    const failure = this.#state === "connecting" ? this.#whyNever() : undefined;
    this.#state = "gone";
    clearInterval(this.#ticker);
    this.#streamsMax = 0;
    this.#owner.gone(failure);
  }

  #whyNever(): DialFailure {
    const error = this.#error as Error & { code?: string } | undefined;
    // With TLS 1.3 an endpoint refuses a client after the client has its connection.
    if (error?.code?.includes("_ALERT_CERT")) return connectFailure(error, this.#to);
    const spokenTo = this.#connected || error?.code?.includes("NO_APPLICATION_PROTOCOL");
    if (spokenTo && !this.#timedOut) {
      return { kind: "http1", message: "the server does not speak HTTP/2" };
    }
    return connectFailure(error ?? new Error("connection closed"), this.#to);
  }
}
