import type { Layout } from "../../src/storage/schema/layout.ts";

/**
 * How many threads serve a data folder: as many as the settings name, else one for each two cores, since
 * handlers, callers and the database need the others; at most one for each database file.
 */
export function threadsOf(
  { partitions, databases }: Layout,
  { wanted, cores }: { readonly wanted: number | undefined; readonly cores: number },
): number {
  const most = databases === "each" ? partitions : 1;
  return Math.min(most, wanted ?? Math.max(1, Math.floor(cores / 2)));
}

/** The thread of a partition. They are dealt out in turn, so that threads have equally many. */
export function threadOf(partition: number, threads: number): number {
  return partition % threads;
}

/** The partitions of a thread. */
export function partitionsOf(
  thread: number,
  { threads, partitions }: { readonly threads: number; readonly partitions: number },
): number[] {
  return [...Array(partitions).keys()].filter((one) => threadOf(one, threads) === thread);
}
