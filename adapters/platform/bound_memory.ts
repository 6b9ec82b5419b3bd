import { setFlagsFromString } from "node:v8";

/** By how much the heap may grow beyond what is alive before it is collected, in percent. */
const GROWTH_PERCENT = 100;

const FLAGS = [
  // Rows of the log live until they are folded, so all of them become garbage in the old generation
  // (decisions 088 and 091).
  `--heap-growing-percent=${GROWTH_PERCENT}`,
  // A compiler between two others, which takes 30 MiB and makes calls no faster (decision 094).
  "--no-maglev",
];

/**
 * Has V8 take less memory than it would of itself. To be called once by a process, before there is much
 * to compile, for all of its threads: flags are read when they are needed. Deno ignores it, and `deno task
 * serve` has flags of its own on its command line.
 */
export function boundMemory(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
}
