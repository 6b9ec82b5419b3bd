import type { Rate } from "../../src/model/limits.ts";
import type { Rows } from "../../src/model/rows.ts";

/** A token bucket, the partition that has it, and the clock of its process, by which it gets tokens. */
export interface PlacedBucket {
  readonly row: Rows["bucket"];
  readonly home: number;
  readonly now: number;
}

/** Whether the bucket of a counter has no token. `home`: the partition that has it, if others have one, too. */
export function lacksToken(
  buckets: readonly PlacedBucket[],
  { counter, rate, home }: {
    readonly counter: string;
    readonly rate: Rate;
    readonly home: number | undefined;
  },
): boolean {
  const bucket = buckets.find((one) =>
    one.row.counter === counter && (home === undefined || one.home === home)
  );
  if (!bucket) return false;
  const { row: { tokens, at }, now } = bucket;
  return tokens / 1e6 + (now - at) * rate.count / rate.periodMs < 1;
}
