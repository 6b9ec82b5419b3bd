import type { Clock } from "../ports.ts";

/** How late a deadline may be noticed, in milliseconds, so that many deadlines cost one timer. */
const COARSE_MS = 20;

/**
 * One timer for many deadlines, most of which are moved before they are reached
 * (docs/spec/service-protocol.md#timers-of-an-attempt): `tick` handles those that have passed and
 * returns the earliest of the others, or Infinity. Deadlines are noticed up to `COARSE_MS` late and
 * never early.
 */
export class Ticker {
  readonly #clock: Clock;
  readonly #tick: (now: number) => number;
  #due = Infinity;
  #forget: (() => void) | undefined;

  constructor(clock: Clock, tick: (now: number) => number) {
    this.#clock = clock;
    this.#tick = tick;
  }

  /**
   * Registers a deadline. Costs nothing unless it is earlier than all others by more than
   * `COARSE_MS`.
   */
  expect(due: number): void {
    if (due >= this.#due) return;
    this.#forget?.();
    this.#due = Math.max(due, this.#clock.now()) + COARSE_MS;
    this.#forget = this.#clock.at(this.#due, () => this.#fire());
  }

  stop(): void {
    this.#forget?.();
    this.#forget = undefined;
    this.#due = Infinity;
  }

  #fire(): void {
    this.#forget = undefined;
    this.#due = Infinity;
    this.expect(this.#tick(this.#clock.now()));
  }
}
