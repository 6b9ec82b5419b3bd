import type { InvocationRow } from "../model/invocation.ts";
import type { Target } from "../model/target.ts";
import { ByHandler } from "./by_handler.ts";
import { bucketOf, type Histogram } from "./histogram.ts";

/** Upper bounds in seconds: from calls of milliseconds to workflows of days. */
const BOUNDS = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600, 3600, 86_400];
/** Each bucket, the one above all bounds, and the sum. */
const SIZE = BOUNDS.length + 2;
const SUM = SIZE - 1;

/**
 * Handlers with a histogram of their own, so that a page with a thousand services stays small: each is
 * 15 samples. Those that complete their first invocation later share one.
 */
export const DURATION_HANDLERS_MAX = 200;

type Completed = Pick<InvocationRow, "createdAt" | "scheduledAt" | "completedAt"> & {
  readonly target: Pick<Target, "service" | "handler">;
};

/** Durations of invocations by handler, from their due time to their result. */
export class Durations {
  readonly #numbers = new ByHandler(SIZE, DURATION_HANDLERS_MAX);

  /** An invocation got its result. A delayed one was due at the end of its delay. */
  completed({ target, createdAt, scheduledAt = createdAt, completedAt }: Completed): void {
    const seconds = Math.max(0, (completedAt ?? scheduledAt) - scheduledAt) / 1000;
    this.#numbers.add(target, bucketOf(BOUNDS, seconds), 1);
    this.#numbers.add(target, SUM, seconds);
  }

  /**
   * A histogram for each handler that completed an invocation. `nameOf`: its name on the page; handlers
   * of one name are added up.
   */
  histograms(
    nameOf: (service: string, handler: string) => readonly [service: string, handler: string],
  ): (readonly [service: string, handler: string, Pick<Histogram, "bounds" | "counts" | "sum">])[] {
    const sums = new ByHandler(SIZE);
    for (const [service, handler, numbers] of this.#numbers) {
      const sum = sums.of(...nameOf(service, handler));
      for (const [i, number] of numbers.entries()) sum[i] = (sum[i] ?? 0) + number;
    }
    return [...sums].map(([service, handler, numbers]) => {
      const counts = numbers.subarray(0, SUM);
      return [service, handler, { bounds: BOUNDS, counts, sum: numbers[SUM] ?? 0 }] as const;
    });
  }
}
