import type { Clock } from "../ports.ts";

/** For how long others count that no longer run. Calls of some milliseconds come and go. Milliseconds. */
const QUIET_MS = 1_000;

/** Whether attempts have the commits of their thread to themselves. Shared by all of its partitions. */
export class Contention {
  readonly #clock: Pick<Clock, "now">;
  #running = 0;
  /** When two of them ran last. Milliseconds since the epoch. */
  #sharedAt = -Infinity;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  began(): void {
    if (this.#running++ > 0) this.#sharedAt = this.#clock.now();
  }

  ended(): void {
    if (--this.#running > 0) this.#sharedAt = this.#clock.now();
  }

  /** Whether the attempt that asks is the only one, and has been for a while. */
  isAlone(): boolean {
    return this.#running === 1 && this.#clock.now() - this.#sharedAt >= QUIET_MS;
  }
}
