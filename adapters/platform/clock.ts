import { setImmediate, setTimeout } from "node:timers";
import { type Clock, CLOCK_LOOK_MS } from "../../src/ports.ts";

/** Time as Node and Deno have it. */
export const clock: Clock = {
  now: Date.now,
  at(due, call) {
    let timer = setTimeout(look, waitMs(due));
    function look(): void {
      // Timers run on a clock of their own and can be a millisecond early.
      if (Date.now() >= due) call();
      else timer = setTimeout(look, waitMs(due));
    }
    return () => clearTimeout(timer);
  },
  // After the input that is already there has been read, before anything is waited for.
  soon: (call) => void setImmediate(call),
};

/** Far below the 2^31-1 ms beyond which `setTimeout` fires at once. */
function waitMs(due: number): number {
  return Math.min(Math.max(due - Date.now(), 0), CLOCK_LOOK_MS);
}
