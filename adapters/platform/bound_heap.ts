import { setFlagsFromString } from "node:v8";

/** By how much the heap may grow beyond what is alive before it is collected, in percent. */
const GROWTH_PERCENT = 50;

/**
 * Makes V8 collect the old generation more often than it would of itself (decision 088). To be called once
 * by a process, for all of its threads: the flag is read at each collection.
 */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
