import { setFlagsFromString } from "node:v8";

/** By how much the heap may grow beyond what is alive before it is collected, in percent. */
const GROWTH_PERCENT = 100;

/**
 * Has V8 collect the old generation before it is much larger than what is alive in it: rows of the log
 * live until they are folded, so all of them become garbage there (decisions 088 and 091). To be called
 * once by a process, for all of its threads: the flag is read at each collection. Deno ignores it, and
 * `deno task serve` has a flag of its own on its command line.
 */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
