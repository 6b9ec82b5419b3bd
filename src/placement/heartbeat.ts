import type { Stopwatch } from "../ports.ts";

/** Retries of a failed heartbeat within a lease: more than there are regular heartbeats. */
const RETRIES = 8;

export interface HeartbeatOptions {
  readonly stopwatch: Stopwatch;
  /** Milliseconds from the beginning of a heartbeat to the beginning of the next. */
  readonly heartbeatMs: number;
  /** See `LeaseOptions`. */
  readonly leaseMs: number;
  /** One heartbeat. Rejects when the database does not answer. */
  readonly beat: () => Promise<void>;
  /** Called after each heartbeat but those of `once`, with the cause if it failed. */
  readonly done: (cause?: unknown) => void;
}

/** When heartbeats happen: at intervals, sooner when asked for or after a failure, one at a time. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #running: Promise<void> | undefined;
  #isAsked = false;
  #isOver = false;
  #cancelNext: (() => void) | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Whether another one is to follow at once. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** Whether it was stopped. A running heartbeat ends, and no further one begins. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Begins another heartbeat right after the running one, or after the retry delay if that fails. */
  ask(): void {
    this.#isAsked = true;
  }

  /** Begins a heartbeat at once, or as soon as the running one has ended. */
  soon(): void {
    if (this.#isOver) return;
    this.#isAsked = true;
    if (!this.#running) this.#begin();
  }

  /** One heartbeat before `start`. Rejects as `beat` does. */
  async once(): Promise<void> {
    this.#isAsked = false;
    await this.#options.beat();
  }

  /** Begins regular heartbeats, the first one after an interval. */
  start(): void {
    this.#later(this.#options.heartbeatMs);
  }

  /** Begins no further heartbeat. Resolves when the running one has ended. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#cancelNext?.();
    await this.#running;
  }

  #later(ms: number): void {
    this.#cancelNext?.();
    if (this.#isOver) return;
    this.#cancelNext = this.#options.stopwatch.after(ms, () => this.#begin());
  }

  #begin(): void {
    if (this.#running || this.#isOver) return;
    const { stopwatch, heartbeatMs, leaseMs, done } = this.#options;
    const began = stopwatch.now();
    this.#running = this.once().then(() => {
      done();
      return this.#isAsked ? 0 : heartbeatMs - (stopwatch.now() - began);
    }, (cause) => {
      done(cause);
      return Math.min(heartbeatMs, leaseMs / RETRIES);
    }).then((ms) => {
      this.#running = undefined;
      this.#later(Math.max(0, ms));
    });
  }
}
