import {
  type DialFailure,
  type DialListener,
  type DialRequest,
  type Exchange,
  ForbiddenAddress,
} from "../dial.ts";
import { failedExchange } from "../pending_exchange.ts";
import type { After, OpenByteStream } from "./byte_stream.ts";
import { Connection, type ConnectionOwner } from "./connection.ts";
import type { HeaderEncoder } from "./hpack/encoder.ts";
import type { Session, SessionOwner } from "./session_pool.ts";

/** What the sessions of a dial have in common. */
export interface SessionSettings {
  /** Streams at once on one session, if the endpoint allows as many. */
  readonly streamsMax: number;
  /** How long a session without streams is kept. */
  readonly idleMs: number;
  /** How often a session with streams sends a PING. */
  readonly pingMs: number;
  /** A session whose PING is not answered for this long is closed. */
  readonly pingTimeoutMs: number;
}

export interface SessionOptions {
  readonly settings: SessionSettings;
  readonly encoder: HeaderEncoder;
  /** A timer that does not keep the process alive. */
  readonly after: After;
  readonly open: OpenByteStream;
  /** The time limit for the connection and the endpoint's first settings. */
  readonly timeoutMs: number;
}

/** One connection of a pool: it limits streams, sends PINGs and closes when it is idle. */
export class Http2Session implements Session, ConnectionOwner {
  readonly #options: SessionOptions;
  readonly #owner: SessionOwner;
  readonly #connection: Connection;
  #state: "connecting" | "ready" | "gone" = "connecting";
  #wasOpened = false;
  #timedOut = false;
  #message = "";
  #cause: Error | undefined;
  /** Ticks without any stream. */
  #idleTicks = 0;
  #cancelConnect: () => void;
  #cancelTick = () => {};
  #cancelPing: (() => void) | undefined;

  constructor(options: SessionOptions, owner: SessionOwner) {
    this.#options = options;
    this.#owner = owner;
    const { open, after, timeoutMs } = options;
    this.#cancelConnect = after(timeoutMs, () => {
      this.#timedOut = true;
      this.#connection.destroy(`no answer within ${timeoutMs} ms`);
    });
    this.#connection = new Connection(open, this);
  }

  get hasRoom(): boolean {
    const { streams, streamsMax } = this.#connection;
    return streams < Math.min(this.#options.settings.streamsMax, streamsMax);
  }

  get streams(): number {
    return this.#connection.streams;
  }

  get queuedBytes(): number {
    return this.#connection.queuedBytes;
  }

  open(path: string, request: DialRequest, listener: DialListener): Exchange {
    const { method, headers } = request;
    const { encoder } = this.#options;
    let length: number;
    try {
      length = encoder.encode(method, path, headers);
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      return failedExchange(listener, { kind: "unreachable", message: cause.message });
    }
    if (this.streams === 0) this.#connection.hold(true);
    this.#idleTicks = 0;
    const head = { block: encoder.bytes, length, isEnd: method === "GET" };
    return this.#connection.open(head, listener);
  }

  destroy(): void {
    this.#connection.destroy("this server is closing");
  }

  opened(): void {
    this.#wasOpened = true;
  }

  ready(): void {
    this.#cancelConnect();
    this.#state = "ready";
    this.#connection.hold(false);
    this.#schedule();
    this.#owner.ready();
  }

  room(): void {
    // Without streams it does not keep the process alive.
    if (this.streams === 0) this.#connection.hold(false);
    this.#owner.room();
  }

  retired(): void {
    // Before it was ready, why it never was is known once it is closed.
    if (this.#state === "ready") this.#leave();
  }

  pinged(): void {
    this.#cancelPing?.();
    this.#cancelPing = undefined;
  }

  closed(message: string, cause?: Error): void {
    this.#message = message;
    this.#cause = cause;
    this.#cancelConnect();
    this.#cancelTick();
    this.pinged();
    this.#leave();
  }

  #schedule(): void {
    const { after, settings: { pingMs, idleMs } } = this.#options;
    const tickMs = Math.min(pingMs, idleMs);
    this.#cancelTick = after(tickMs, () => {
      this.#schedule();
      if (this.streams > 0) this.#probe();
      else if (++this.#idleTicks * tickMs > idleMs) this.#connection.retire();
    });
  }

  /** Destroys the connection, and with it its streams, when the endpoint does not answer a PING. */
  #probe(): void {
    if (this.#cancelPing) return;
    const { after, settings: { pingTimeoutMs } } = this.#options;
    this.#cancelPing = after(
      pingTimeoutMs,
      () => this.#connection.destroy(`no answer to a PING within ${pingTimeoutMs} ms`),
    );
    this.#connection.ping();
  }

  #leave(): void {
    if (this.#state === "gone") return;
    const failure = this.#state === "connecting" ? this.#whyNever() : undefined;
    this.#state = "gone";
    this.#owner.gone(failure);
  }

  #whyNever(): DialFailure {
    if (this.#wasOpened && !this.#timedOut) {
      return { kind: "http1", message: "the server does not speak HTTP/2" };
    }
    const kind = this.#cause instanceof ForbiddenAddress ? "forbidden" : "unreachable";
    return { kind, message: this.#message };
  }
}
