import { setImmediate, setTimeout } from "node:timers";
import type { Clock, Random } from "../src/ports.ts";

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

const POOL_BYTES = 4096;
let pool = new Uint8Array(0);

/** Unpredictable bytes, drawn from the system many at a time: one draw costs as much as a page. */
export const random: Random = (size) => {
  if (size > POOL_BYTES) return crypto.getRandomValues(new Uint8Array(size));
  if (pool.length < size) pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES));
  const bytes = pool.slice(0, size);
  pool = pool.subarray(size);
  return bytes;
};
