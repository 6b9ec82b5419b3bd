import type { Config } from "../../src/config.ts";
import { namedPartitions } from "../../src/placement/settings.ts";
import type { Layout } from "../../src/storage/schema/layout.ts";
import type { Machine } from "../platform/machine.ts";

const CORES_OF_THREAD = 2;
/** What a thread takes under load: its heap, its buffers, the caches of its partitions and of SQLite. */
const BYTES_OF_THREAD = 1024 ** 3;
/** More files would have ever fewer commits to share a write to the disk. */
const AUTO_PARTITIONS_MAX = 16;

/**
 * How many threads a machine has use for: one for each two cores, since handlers, callers and the database need
 * the others, and one for each GiB of memory.
 */
export function threadsFor({ cores, memoryBytes }: Machine): number {
  const most = Math.min(cores / CORES_OF_THREAD, memoryBytes / BYTES_OF_THREAD);
  return Math.max(1, Math.floor(most));
}

/**
 * How many threads serve a data folder: as many as the setting `threads` names, else as the machine has use
 * for; at most one for each database file.
 */
export function threadsOf(
  { partitions, databases }: Layout,
  { threads, machine }: { readonly threads: number; readonly machine: Machine },
): number {
  const most = databases === "each" ? partitions : 1;
  return Math.min(most, threads || threadsFor(machine));
}

/**
 * The layout of a new data folder. Where the settings leave the number of partitions open, there is one for
 * each thread. Where they leave open the files, each partition has one if their number was open as well;
 * otherwise all share one, as they did before that number could be left open.
 */
export function layoutOf(
  config: Pick<Config, "default-num-partitions" | "storage.databases" | "threads">,
  machine: Machine,
): Layout {
  const databases = config["storage.databases"];
  const threads = config["threads"] || Math.min(AUTO_PARTITIONS_MAX, threadsFor(machine));
  const open = databases === "one" ? 1 : threads;
  const partitions = namedPartitions(config, open);
  if (databases !== "auto") return { partitions, databases };
  const isOpen = config["default-num-partitions"] === 0;
  return { partitions, databases: isOpen && partitions > 1 ? "each" : "one" };
}
