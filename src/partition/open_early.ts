import type { Attempt, Effect } from "../engine/effect.ts";
import type { AttemptRunner } from "./life.ts";

/**
 * Most attempts of a commit whose requests are opened early. With more of them the endpoint has enough
 * to do meanwhile, and a second write for each request would only cost CPU.
 */
const OPEN_EARLY_MAX = 2;

/** Nor are requests opened early while more attempts than this run: their endpoints are busy, too. */
const RUNNING_MAX = 8;

/**
 * Opens the requests of the attempts that a commit in flight starts, if they are few: the endpoint then
 * prepares each while the disk makes its start durable (decision 078).
 */
export function openEarly(attempts: AttemptRunner, effects: readonly Effect[]): void {
  if (!attempts.openEarly || (attempts.load?.running ?? 0) > RUNNING_MAX) return;
  const found: Attempt[] = [];
  for (const effect of effects) {
    if (effect.type !== "attempt") continue;
    if (found.length === OPEN_EARLY_MAX) return;
    found.push(effect);
  }
  for (const effect of found) attempts.openEarly(effect);
}

/**
 * Has endpoints that are prepared begin before anything else of durable effects is done: answers to callers
 * take a while to write. Not if an attempt is aborted, which may be of what the next one excludes.
 */
export function proceedFirst(attempts: AttemptRunner, effects: readonly Effect[]): void {
  if (!attempts.proceed || effects.some(({ type }) => type === "abort")) return;
  for (const effect of effects) if (effect.type === "attempt") attempts.proceed(effect);
}
