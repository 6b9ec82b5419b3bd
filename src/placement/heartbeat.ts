import type { Stopwatch } from "../ports.ts";

/** Heartbeats that failed are repeated sooner than the next would be: so often within a lease. */
const RETRIES = 8;

export interface HeartbeatOptions {
  readonly stopwatch: Stopwatch;
  /** From the beginning of one to that of the next, in milliseconds. */
  readonly heartbeatMs: number;
  /** See `LeaseOptions`. */
  readonly leaseMs: number;
  /** One heartbeat. Rejects when the database does not answer. */
  readonly beat: () => Promise<void>;
  /** Called after each one that began by itself, with the cause if it failed. */
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

  /** Whether it was stopped. One that is running ends, and no further one begins. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Has another one follow the one that is running, without delay unless that fails. */
  ask(): void {
    this.#isAsked = true;
  }

  /** Begins one at once, or as soon as the one that is running has ended. */
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

  /** Begins the next one after an interval, and so on. */
  start(): void {
    this.#later(this.#options.heartbeatMs);
  }

  /** Begins none any more. Resolves when the one that is running has ended. */
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
