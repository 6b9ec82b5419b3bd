import { setTimeout } from "node:timers";
import { type Clock, CLOCK_LOOK_MS } from "../../src/ports.ts";
import { afterAccepting } from "./accepting.ts";

/** The clock and the timers of Node and Deno. */
export const clock: Clock = {
  now: Date.now,
  at(due, call) {
    let timer = setTimeout(fireIfDue, waitMs(due));
    function fireIfDue(): void {
      // Timers run on a clock of their own and can be a millisecond early.
      if (Date.now() >= due) call();
      else timer = setTimeout(fireIfDue, waitMs(due));
    }
    return () => clearTimeout(timer);
  },
  soon: afterAccepting,
};

/** Far below the 2^31-1 ms beyond which `setTimeout` fires at once. */
function waitMs(due: number): number {
  return Math.min(Math.max(due - Date.now(), 0), CLOCK_LOOK_MS);
}
