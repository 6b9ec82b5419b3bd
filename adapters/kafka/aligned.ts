import { pause } from "./pause.ts";

/**
 * Calls back every `ms` milliseconds, at the same moments for all intervals of that length: the process
 * wakes up once for all its subscriptions, which costs more than what they do then. Answers what ends it.
 */
export function everyAligned(ms: number, call: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const next = () => {
    timer = setTimeout(() => {
      next();
      call();
    }, untilNext(ms));
  };
  next();
  return () => clearTimeout(timer);
}

/** Waits for the next of these moments, at most until the signal. */
export function pauseAligned(ms: number, signal: AbortSignal): Promise<void> {
  return pause(untilNext(ms), signal);
}

/** A timer may come a little early, and then the same moment is not waited for again. */
const EARLY = 0.2;

/** Milliseconds until the next multiple of `ms` since the epoch, or the one after it if that is close. */
export function untilNext(ms: number, now = Date.now()): number {
  const left = ms - now % ms;
  return left < ms * EARLY ? left + ms : left;
}
