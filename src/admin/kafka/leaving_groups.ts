import type { KeptGroup } from "../../model/kafka.ts";
import type { Clock } from "../../ports.ts";

export interface LeavingOptions {
  /** Whether a subscription still waits for its group to be deleted. */
  readonly isLeaving: (subscription: string) => boolean;
  /** Calls back when that may have changed. */
  readonly subscribe: (call: () => void) => void;
  readonly clock: Pick<Clock, "now" | "at">;
}

/** What has become of the consumer group of a subscription that is deleted with it. */
export interface GroupEnd {
  readonly isDeleted: boolean;
  /** Why it is not. */
  readonly problem?: string;
}

/** Longer than a sidecar takes to leave the group of a broker that is silent, and to ask it in vain. */
const WAIT_MS = 15_000;

/** Consumer groups that sidecars are to delete, and why they cannot, as they said last. */
export class LeavingGroups {
  readonly #options: LeavingOptions;
  readonly #problems = new Map<string, string>();
  readonly #waiters = new Set<() => void>();
  #isEnded = false;

  constructor(options: LeavingOptions) {
    this.#options = options;
    options.subscribe(() => {
      for (const id of this.#problems.keys()) if (!options.isLeaving(id)) this.#problems.delete(id);
      this.#wake();
    });
  }

  /** A sidecar could not delete these. */
  kept(groups: readonly KeptGroup[]): void {
    for (const { id, message } of groups) {
      if (this.#options.isLeaving(id)) this.#problems.set(id, message);
    }
    if (groups.length > 0) this.#wake();
  }

  /** Resolves once a group is deleted, or known to be in trouble, or after a while, or when `leave` aborts. */
  async endOf(subscription: string, leave: AbortSignal): Promise<GroupEnd> {
    const { clock, isLeaving } = this.#options;
    const until = clock.now() + WAIT_MS;
    for (;;) {
      if (!isLeaving(subscription)) return { isDeleted: true };
      const problem = this.#problems.get(subscription);
      if (problem !== undefined) return { isDeleted: false, problem };
      if (clock.now() >= until || leave.aborted || this.#isEnded) {
        return { isDeleted: false, problem: "no sidecar has said anything of it yet" };
      }
      await this.#wait(until, leave);
    }
  }

  /** The process ends: no request waits any more. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  #wake(): void {
    for (const wake of [...this.#waiters]) wake();
  }

  #wait(until: number, leave: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        leave.removeEventListener("abort", wake);
        this.#waiters.delete(wake);
        resolve();
      };
      const cancel = this.#options.clock.at(until, wake);
      leave.addEventListener("abort", wake);
      this.#waiters.add(wake);
    });
  }
}
