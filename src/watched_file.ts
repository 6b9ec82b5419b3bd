import type { Clock, Log } from "./ports.ts";

/** The interval of polling a file, in milliseconds. */
const POLL_MS = 3000;

export interface WatchedFileOptions<T> {
  /** Rejects when the file does not exist or cannot be read. */
  readonly read: () => Promise<string>;
  /** What the text means. Throws or rejects for one that means nothing. */
  readonly parse: (text: string) => T | Promise<T>;
  /** What is logged when a later version of the file cannot be used. */
  readonly complaint: string;
  /** The reason that is logged with it. It quotes no secret. */
  readonly reasonOf: (cause: unknown) => string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * A file of settings that may change while the server runs. It is polled, since no API to watch files
 * exists on all platforms.
 */
export class WatchedFile<T> {
  readonly #options: WatchedFileOptions<T>;
  #known = "";
  /** The last problem with the file, so that it is logged once. */
  #lastProblem = "";
  #isClosed = false;
  #forget = () => {};

  constructor(options: WatchedFileOptions<T>) {
    this.#options = options;
  }

  /** Reads the file. Rejects with what `read` or `parse` reject with. */
  async open(): Promise<T> {
    this.#known = await this.#options.read();
    return await this.#options.parse(this.#known);
  }

  /** Calls `changed` for each new text. A file that cannot be used changes nothing and is logged. */
  watch(changed: (value: T) => void): void {
    if (this.#isClosed) return;
    const { clock } = this.#options;
    this.#forget = clock.at(clock.now() + POLL_MS, () => {
      this.#poll(changed).then(() => this.watch(changed));
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#forget();
  }

  /** Never rejects. */
  async #poll(changed: (value: T) => void): Promise<void> {
    const { read, parse, reasonOf } = this.#options;
    try {
      const text = await read();
      const value = text === this.#known ? undefined : await parse(text);
      this.#known = text;
      this.#lastProblem = "";
      if (value !== undefined && !this.#isClosed) changed(value);
    } catch (cause) {
      this.#logOnce(reasonOf(cause));
    }
  }

  #logOnce(reason: string): void {
    if (reason === this.#lastProblem || this.#isClosed) return;
    this.#lastProblem = reason;
    this.#options.log("error", this.#options.complaint, { cause: reason });
  }
}
