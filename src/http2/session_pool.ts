import type { DialFailure, DialListener, DialRequest, Exchange } from "../dial.ts";
import { PendingExchange } from "../pending_exchange.ts";

/** One HTTP/2 connection with an address. */
export interface Session {
  /** Whether another stream may be opened now. */
  readonly hasRoom: boolean;
  open(path: string, request: DialRequest, listener: DialListener): Exchange;
  /** Closes at once, and with it all streams. */
  destroy(): void;
}

/** Callbacks by which a session notifies its pool, never before `connect` has returned. */
export interface SessionOwner {
  /** The endpoint's settings arrived, which limit the streams. */
  ready(): void;
  /** A stream has ended. */
  room(): void;
  /** It takes no more streams. `failure`: why it never became ready. */
  gone(failure?: DialFailure): void;
}

/** Begins to connect, for `timeoutMs` milliseconds at most. */
export type ConnectSession = (timeoutMs: number, owner: SessionOwner) => Session;

/** An exchange that waits for a session that takes a stream. */
interface Waiting {
  readonly pending: PendingExchange;
  readonly path: string;
  readonly request: DialRequest;
}

/**
 * The HTTP/2 sessions with one address. Each takes a number of streams, and another session is opened
 * when all are full. Exchanges wait while no session takes a stream.
 */
export class SessionPool {
  readonly #streamsMax: number;
  readonly #connectSession: ConnectSession;
  readonly #ready: Session[] = [];
  #waiting: Waiting[] = [];
  readonly #connecting = new Set<Session>();

  /** `streamsMax`: the streams that one session is expected to take. */
  constructor(streamsMax: number, connect: ConnectSession) {
    this.#streamsMax = streamsMax;
    this.#connectSession = connect;
  }

  /** Opens an exchange on the first session with room, or once there is one. */
  open(path: string, request: DialRequest, listener: DialListener): Exchange {
    const session = this.#free();
    if (session) return session.open(path, request, listener);
    const pending = new PendingExchange(listener);
    this.#waiting.push({ pending, path, request });
    this.#connectIfNeeded(request.connectTimeoutMs);
    return pending;
  }

  /** Adds a session that was opened otherwise. */
  adopt(connectTimeoutMs: number, connect: ConnectSession): void {
    this.#connect(connectTimeoutMs, connect);
  }

  /** Ends all sessions. Exchanges that wait fail. */
  close(): void {
    this.#fail({ kind: "reset", message: "this server is closing" });
    for (const session of [...this.#ready, ...this.#connecting]) session.destroy();
  }

  #free(): Session | undefined {
    // Always the first one that takes a stream, so that later sessions become idle and are closed.
    for (const session of this.#ready) if (session.hasRoom) return session;
    return undefined;
  }

  #connectIfNeeded(timeoutMs: number): void {
    if (this.#connecting.size * this.#streamsMax >= this.#waiting.length) return;
    this.#connect(timeoutMs, this.#connectSession);
  }

  #connect(timeoutMs: number, connect: ConnectSession): void {
    const session = connect(timeoutMs, {
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
