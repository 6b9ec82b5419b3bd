import process from "node:process";
import { setFlagsFromString } from "node:v8";

/** By how much the heap may grow beyond what is alive before it is collected, in percent. */
const GROWTH_PERCENT = 100;

/** Calls of a function after which V8 optimizes it; 3,000 of itself. */
const CALLS_BEFORE_OPTIMIZING = 500;

/** The first version of V8 that counts these calls: that of Node 22. */
const COUNTS_CALLS = 12;

const FLAGS = [
  // Rows of the log live until they are folded, so all of them become garbage in the old generation
  // (decisions 088 and 091).
  `--heap-growing-percent=${GROWTH_PERCENT}`,
  // A compiler between two others, which takes 30 MiB and makes calls no faster (decision 094).
  "--no-maglev",
];

/**
 * Has V8 take less memory, and optimize sooner, than it would of itself. To be called once by a process,
 * before there is much to compile, for all of its threads: flags are read when they are needed. Deno
 * ignores it, and `deno task serve` has flags of its own on its command line.
 */
export function setV8Flags(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
  // A flag that V8 does not know is an error message of its own.
  if (parseInt(process.versions.v8 ?? "") < COUNTS_CALLS) return;
  // Without the compiler between, unoptimized code runs for as long as this takes (decision 099).
  setFlagsFromString(`--invocation-count-for-turbofan=${CALLS_BEFORE_OPTIMIZING}`);
}
