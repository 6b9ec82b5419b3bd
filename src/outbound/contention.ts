import type { Clock } from "../ports.ts";

/** For how long others count that have ended, in milliseconds: calls of some milliseconds come and go. */
const QUIET_MS = 1_000;

/**
 * Whether an attempt has the commits of its thread to itself (decision 093). Shared by all partitions of
 * the thread.
 */
export class Contention {
  readonly #clock: Pick<Clock, "now">;
  #running = 0;
  /** When two of them ran last. Milliseconds since the epoch. */
  #sharedAt = -Infinity;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** To be called once for each attempt, when it takes its slot. */
  began(): void {
    if (this.#running++ > 0) this.#sharedAt = this.#clock.now();
  }

  /** To be called once for each attempt that began, when it leaves its slot. */
  ended(): void {
    if (--this.#running > 0) this.#sharedAt = this.#clock.now();
  }

  /** To be asked by an attempt that runs: whether it is the only one, and has been for `QUIET_MS`. */
  isAlone(): boolean {
    return this.#running === 1 && this.#clock.now() - this.#sharedAt >= QUIET_MS;
  }
}
