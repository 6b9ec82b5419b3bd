import type { Unready } from "../model/readiness.ts";
import { type Clock, type Log, publicCause } from "../ports.ts";

/** How long a check waits for the database, in milliseconds: probes mostly give up after a few seconds. */
const READ_TIMEOUT_MS = 2_000;

/**
 * Why a partition takes no requests, and since when. The host reports failures, and each check reads a
 * row, so that a lost database is noticed without a commit.
 */
export class PartitionReadiness {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #partition: number;
  #ofHost: Unready | undefined;
  #ofCheck: Unready | undefined;
  #reading: Promise<void> | undefined;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }, partition: number) {
    this.#clock = clock;
    this.#log = log;
    this.#partition = partition;
    this.#ofHost = this.#because("the partition is being opened");
  }

  /** The known reason. Undefined: none. */
  get known(): Unready | undefined {
    return this.#ofHost ?? this.#ofCheck;
  }

  /** The partition has stopped, or cannot start. Of several failures, the time of the first stays. */
  failed(cause: unknown): void {
    this.#ofHost = this.#because(publicCause(cause));
  }

  /** The partition serves. */
  over(): void {
    this.#ofHost = this.#ofCheck = undefined;
  }

  /**
   * The reason at this moment, within `READ_TIMEOUT_MS`. `read`: reads a row of the partition; absent
   * while it has no life. Checks at the same time share one read.
   */
  async check(read: (() => Promise<unknown>) | undefined): Promise<Unready | undefined> {
    if (!read) return this.known;
    const reading = this.#reading ??= this.#begin(read);
    await this.#within(READ_TIMEOUT_MS, reading);
    if (this.#reading === reading && !this.#ofCheck) {
      this.#found(`the database does not answer within ${READ_TIMEOUT_MS / 1_000} s`);
    }
    return this.known;
  }

  #begin(read: () => Promise<unknown>): Promise<void> {
    return read().then(() => this.#readable(), (cause) => this.#found(publicCause(cause), cause))
      .finally(() => {
        this.#reading = undefined;
      });
  }

  /** Logs the reason once, however many checks find it. */
  #found(why: string, cause?: unknown): void {
    if (!this.#ofCheck) {
      const partition = this.#partition;
      this.#log("warn", "The rows of a partition cannot be read", {
        partition,
        cause: cause === undefined ? why : String(cause),
      });
    }
    this.#ofCheck = this.#because(why);
  }

  #readable(): void {
    if (this.#ofCheck) {
      const partition = this.#partition;
      this.#log("info", "The rows of a partition can be read again", { partition });
    }
    this.#ofCheck = undefined;
  }

  #because(cause: string): Unready {
    const since = this.known?.since ?? this.#clock.now();
    return { partition: this.#partition, cause, since };
  }

  async #within(ms: number, done: Promise<void>): Promise<void> {
    const clock = this.#clock;
    await new Promise<void>((resolve) => {
      const forget = clock.at(clock.now() + ms, resolve);
      void done.then(() => {
        forget();
        resolve();
      });
    });
  }
}
