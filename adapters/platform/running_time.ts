import { performance } from "node:perf_hooks";
import { clearTimeout, setTimeout } from "node:timers";

/** Time is counted in steps of this length at most. */
const STEP_MS = 1000;
/** A timer that is later than this means that the process was stopped, or the machine suspended. */
const PAUSE_MS = 1000;

/**
 * Calls `act` when this process has been running for `ms` milliseconds. A step during which it was
 * stopped (SIGSTOP, a suspended machine) does not count: a response that arrived meanwhile must be
 * read before a timeout is declared. Returns a function that cancels the call.
 */
export function afterRunning(ms: number, act: () => void): () => void {
  let leftMs = ms;
  let timer: ReturnType<typeof setTimeout>;
  const next = () => {
    const stepMs = Math.min(leftMs, STEP_MS);
    const due = performance.now() + stepMs;
    timer = setTimeout(() => {
      if (performance.now() - due < PAUSE_MS) leftMs -= stepMs;
      if (leftMs <= 0) act();
      else next();
    }, stepMs);
  };
  next();
  return () => clearTimeout(timer);
}
