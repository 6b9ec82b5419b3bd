import type { SharesOptions } from "./shares.ts";
import type { Entry } from "./wait_queue.ts";

/** Where `grantsMax` is absent. */
export const GRANTS_MAX = 256;

/** `send` takes the events `granted`, too. */
export interface SchedulerOptions extends Omit<SharesOptions, "counters"> {
  readonly priorityAgingMs?: number;
  /** Entries of a queue in memory, and of a page of `load`. Absent: `WINDOW`. */
  readonly queueWindow?: number;
  /** Grants whose turns have not run, at most. Absent: no more than a turn takes with ease. */
  readonly grantsMax?: number;
  /** The next entries of a queue, after a place, once all that turns have written can be read. */
  readonly load: (queue: string, after: number) => Promise<readonly Entry[]>;
  readonly onFailure: (cause: unknown) => void;
}
