import { performance } from "node:perf_hooks";
import { clearTimeout, setTimeout } from "node:timers";
import type { Stopwatch } from "../../src/ports.ts";

/** Time that nobody can set, as Node and Deno have it. */
export const stopwatch: Stopwatch = {
  now: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
