import type { SharedLimits } from "../../model/limits.ts";
import type { Rows } from "../../model/rows.ts";

type Bank = Rows["bank"];

/** A partition that has counted what it runs, under limits that were tightened at `since`. */
export interface Counting {
  readonly from: number;
  readonly since: number;
  /** Of the installation. */
  readonly partitions: number;
}

/** A bank after a partition has counted what it runs (decision 079). */
export function countedIn(bank: Bank, { from, since, partitions }: Counting): Bank {
  const { counted, since: _, ...rest } = bank;
  const all = { ...bank, counted: { ...counted, [from]: since } };
  const times = Array.from({ length: partitions }, (_, partition) => countedAt(all, partition));
  const least = times.reduce((least, one) => Math.min(least, one));
  const later = times.flatMap((time, partition) =>
    time > least ? [[partition, time] as const] : []
  );
  return {
    ...rest,
    ...(least > 0 && { since: least }),
    ...(later.length > 0 && { counted: Object.fromEntries(later) }),
  };
}

/** The partitions that may run more than the bank has given them: they have not counted what they run. */
export function uncounted(
  bank: Bank,
  { limitedAt = 0 }: SharedLimits,
  partitions: number,
): number[] {
  if ((bank.since ?? 0) >= limitedAt) return [];
  const all = Array.from({ length: partitions }, (_, partition) => partition);
  return all.filter((partition) => countedAt(bank, partition) < limitedAt);
}

/** Whether a partition has heard of limits that this one has not. */
export function isBehind(
  { since = 0, counted = {} }: Bank,
  { tightenedAt = 0 }: SharedLimits,
): boolean {
  return since > tightenedAt || Object.values(counted).some((one) => one > tightenedAt);
}

function countedAt({ since = 0, counted = {} }: Bank, partition: number): number {
  return Math.max(since, counted[partition] ?? 0);
}
