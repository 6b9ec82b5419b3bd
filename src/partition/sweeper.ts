import type { Event } from "../engine/event.ts";
import type { Clock, Log, Mailbox } from "../ports.ts";

export interface SweeperOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly everyMs: number;
  /** One event for each row that may be deleted at `until`, at most `limit`. */
  readonly expired: (until: number, limit: number) => Promise<readonly Event[]>;
  readonly send: Mailbox;
}

/** Rows deleted at once: few, so that other events do not wait long. */
const PAGE = 200;

/** Has rows deleted whose time is over, such as completed invocations, in small pages. */
export class Sweeper {
  readonly #options: SweeperOptions;
  #cancel: (() => void) | undefined;
  /** The event whose turn the next page waits for. */
  #last: Event | undefined;
  #isStopped = false;

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  start(): void {
    this.#later(0);
  }

  /** An event that no turn can take never becomes durable. */
  refused(event: Event): void {
    if (event === this.#last) this.#later(this.#options.everyMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #later(delayMs: number): void {
    if (this.#isStopped) return;
    const { clock, log, everyMs } = this.#options;
    this.#cancel = clock.at(clock.now() + delayMs, () => {
      this.#sweep().catch((cause) => {
        log("warn", "Looking for expired rows failed", { cause: String(cause) });
        this.#later(everyMs);
      });
    });
  }

  async #sweep(): Promise<void> {
    const { clock, expired, send, everyMs } = this.#options;
    const page = await expired(clock.now(), PAGE);
    if (this.#isStopped) return;
    const last = page.at(-1);
    this.#last = last;
    if (!last) return this.#later(everyMs);
    // The next page is read when this one is durable: earlier, it would be the same page again.
    for (const event of page) {
      const durable = event === last
        ? () => this.#later(page.length < PAGE ? everyMs : 0)
        : undefined;
      send(event, durable);
    }
  }
}
