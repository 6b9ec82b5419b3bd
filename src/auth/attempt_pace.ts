/** How many seconds' worth of wrong tokens may come at once. */
const BURST_SECONDS = 10;

/** Bounds how many wrong tokens are checked, so that tokens cannot be guessed at the speed of a network. */
export class AttemptPace {
  readonly #perSecond: number;
  readonly #now: () => number;
  #left: number;
  #at: number;

  /** `perSecond`: wrong tokens in the long run. `now`: milliseconds since the epoch. */
  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#left = perSecond * BURST_SECONDS;
    this.#at = now();
  }

  /** Whether a token may be checked now. */
  get isOpen(): boolean {
    const now = this.#now();
    // A clock that was set back must not close it.
    const seconds = Math.max(0, now - this.#at) / 1000;
    this.#left = Math.min(this.#perSecond * BURST_SECONDS, this.#left + seconds * this.#perSecond);
    this.#at = now;
    return this.#left >= 1;
  }

  /** A token was wrong. */
  spend(): void {
    this.#left--;
  }
}
