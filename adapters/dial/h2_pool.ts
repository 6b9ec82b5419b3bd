import type { TLSSocket } from "node:tls";
import type { DialFailure, DialListener, DialRequest, Exchange } from "../../src/dial.ts";
import { PendingExchange } from "../../src/outbound/pending_exchange.ts";
import { H2Session, type H2Settings } from "./h2_session.ts";

/**
 * The HTTP/2 sessions with one address. Each takes a number of streams, and another session is opened
 * when all are full. Exchanges wait while no session takes a stream.
 */
export class H2Pool {
  readonly #origin: string;
  readonly #settings: H2Settings;
  readonly #ready: H2Session[] = [];
  /** Exchanges that wait for a session that takes a stream. */
  #waiting: {
    readonly pending: PendingExchange;
    readonly path: string;
    readonly request: DialRequest;
  }[] = [];
  #connecting = new Set<H2Session>();

  constructor(origin: string, settings: H2Settings) {
    this.#origin = origin;
    this.#settings = settings;
  }

  open(path: string, request: DialRequest, listener: DialListener): Exchange {
    const session = this.#free();
    if (session) return session.open(path, request, listener);
    const pending = new PendingExchange(listener);
    this.#waiting.push({ pending, path, request });
    this.#connectIfNeeded(request.connectTimeoutMs);
    return pending;
  }

  /** Takes over a TLS connection that has agreed on h2. */
  adopt(socket: TLSSocket, connectTimeoutMs: number): void {
    this.#connect(connectTimeoutMs, socket);
  }

  close(): void {
    for (const session of [...this.#ready, ...this.#connecting]) session.destroy();
    this.#fail({ kind: "reset", message: "this server is closing" });
  }

  #free(): H2Session | undefined {
    // Always the first one that takes a stream, so that later sessions become idle and are closed.
    for (const session of this.#ready) if (session.hasRoom) return session;
    return undefined;
  }

  #connectIfNeeded(timeoutMs: number): void {
    const { streamsMax } = this.#settings;
    if (this.#connecting.size * streamsMax < this.#waiting.length) this.#connect(timeoutMs);
  }

  #connect(timeoutMs: number, socket?: TLSSocket): void {
    const session = new H2Session(this.#origin, this.#settings, {
      timeoutMs,
      ...(socket && { socket }),
      ready: () => {
        this.#connecting.delete(session);
        this.#ready.push(session);
        this.#place();
      },
      room: () => this.#waiting.length > 0 && this.#place(),
      gone: (failure) => {
        const index = this.#ready.indexOf(session);
        if (index >= 0) this.#ready.splice(index, 1);
        this.#connecting.delete(session);
        if (this.#connecting.size > 0) return;
        if (failure) this.#fail(failure);
        else this.#place();
      },
    });
    this.#connecting.add(session);
  }

  #place(): void {
    while (this.#waiting.length > 0) {
      const session = this.#free();
      if (!session) break;
      const next = this.#waiting.shift();
      if (next) next.pending.connect((listener) => session.open(next.path, next.request, listener));
    }
    const [first] = this.#waiting;
    if (first) this.#connectIfNeeded(first.request.connectTimeoutMs);
  }

  #fail(failure: DialFailure): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { pending } of waiting) pending.fail(failure);
  }
}
