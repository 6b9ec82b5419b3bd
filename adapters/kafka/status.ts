import type {
  PartitionReport,
  SubscriptionReport,
  SubscriptionState,
} from "../../src/model/kafka.ts";
import type { Log } from "../../src/ports.ts";

export interface StatusOptions {
  readonly log: Log;
  readonly onChange: () => void;
  /** Takes secrets out of a text. */
  readonly hide: (text: string) => string;
}

const MESSAGE_MAX = 500;

/** How a subscription is: for reports, and for the log, which hears of a failure once. */
export class Status {
  readonly #id: string;
  readonly #options: StatusOptions;
  #state: Exclude<SubscriptionState, "blocked"> = "starting";
  #lastError: SubscriptionReport["lastError"];
  #logged: string | undefined;
  #partitions: () => readonly PartitionReport[] = () => [];

  constructor(id: string, options: StatusOptions) {
    this.#id = id;
    this.#options = options;
  }

  /** Where the partitions are to be seen from now on. */
  showing(partitions: () => readonly PartitionReport[]): void {
    this.#partitions = partitions;
    this.#options.onChange();
  }

  starting(): void {
    // What fails again and again stays `failing` while it is tried.
    if (this.#state !== "failing") this.#become("starting");
  }

  paused(): void {
    this.#become("paused");
  }

  running(): void {
    if (this.#state === "failing" && this.#logged !== undefined) {
      this.#options.log("info", "A subscription consumes again", { subscription: this.#id });
    }
    this.#logged = undefined;
    this.#become("running");
  }

  /** Nothing can be consumed. */
  failed(message: string): void {
    this.noticed(message);
    this.#become("failing");
  }

  /** Something is wrong, though records may be consumed. Repetitions are not logged. */
  noticed(message: string): void {
    const shown = this.#options.hide(message).slice(0, MESSAGE_MAX);
    this.#lastError = { message: shown, at: Date.now() };
    if (shown !== this.#logged) {
      this.#options.log("warn", "A subscription has a problem", {
        subscription: this.#id,
        cause: shown,
      });
    }
    this.#logged = shown;
    this.#options.onChange();
  }

  #become(state: Exclude<SubscriptionState, "blocked">): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#options.onChange();
  }

  report(): SubscriptionReport {
    const partitions = this.#partitions();
    const isBlocked = this.#state === "running" &&
      partitions.some(({ stoppedBy }) => stoppedBy?.kind === "poison");
    return {
      id: this.#id,
      state: isBlocked ? "blocked" : this.#state,
      ...(this.#lastError && { lastError: this.#lastError }),
      partitions,
    };
  }
}
