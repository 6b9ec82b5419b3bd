import type {
  PartitionReport,
  SubscriptionReport,
  SubscriptionState,
} from "../../src/model/kafka.ts";
import type { Log } from "../../src/ports.ts";
import { ProblemLog } from "./problem_log.ts";

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
  readonly #problems: ProblemLog;
  #state: Exclude<SubscriptionState, "blocked"> = "starting";
  #lastError: SubscriptionReport["lastError"];
  #commitFailures = 0;
  #partitions: () => readonly PartitionReport[] = () => [];

  constructor(id: string, options: StatusOptions) {
    this.#id = id;
    this.#options = options;
    this.#problems = new ProblemLog({
      log: (cause, notLogged) =>
        options.log("warn", "A subscription has a problem", {
          subscription: id,
          cause,
          ...(notLogged > 0 && { notLogged }),
        }),
    });
  }

  get isFailing(): boolean {
    return this.#state === "failing";
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

  /** It has joined its group, and will probably stay there. */
  running(): void {
    if (this.isFailing && this.#problems.isOpen) {
      this.#options.log("info", "A subscription consumes again", { subscription: this.#id });
    }
    if (this.#state !== "running") this.#problems.clear();
    this.#become("running");
  }

  /** Nothing can be consumed. */
  failed(message: string): void {
    this.noticed(message);
    this.#become("failing");
  }

  /** Something is wrong, though records may be consumed. */
  noticed(message: string): void {
    const shown = this.#options.hide(message).slice(0, MESSAGE_MAX);
    this.#lastError = { message: shown, at: Date.now() };
    this.#problems.add(shown);
    this.#options.onChange();
  }

  /** Offsets were not committed: records flow all the same. */
  notCommitted(message: string): void {
    this.#commitFailures++;
    this.noticed(message);
  }

  /** So many commits that failed have been reported. */
  reported({ commitFailures = 0 }: Pick<SubscriptionReport, "commitFailures">): void {
    this.#commitFailures -= commitFailures;
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
      ...(this.#commitFailures > 0 && { commitFailures: this.#commitFailures }),
      partitions,
    };
  }
}
