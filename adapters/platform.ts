import { setImmediate, setTimeout } from "node:timers";
import type { Clock } from "../src/ports.ts";

/**
 * The longest a timer is set for. The wall clock may be moved and a machine may sleep, neither of
 * which a running timer notices: it looks again this often. Also far below the 2^31-1 ms beyond
 * which `setTimeout` fires at once.
 */
const LOOK_AGAIN_MS = 60_000;

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

function waitMs(due: number): number {
  return Math.min(Math.max(due - Date.now(), 0), LOOK_AGAIN_MS);
}
