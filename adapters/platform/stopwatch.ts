import { performance } from "node:perf_hooks";
import { clearTimeout, setTimeout } from "node:timers";
import type { Stopwatch } from "../../src/ports.ts";

/** The monotonic clock of Node and Deno, which no operator can set. */
export const stopwatch: Stopwatch = {
  now: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
