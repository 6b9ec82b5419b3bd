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
 * prepares each while the disk makes its start durable (decision 078). Returns whether it did.
 */
export function openEarly(attempts: AttemptRunner, effects: readonly Effect[]): boolean {
  if (!attempts.openEarly || (attempts.load?.running ?? 0) > RUNNING_MAX) return false;
  const found: Attempt[] = [];
  for (const effect of effects) {
    if (effect.type !== "attempt") continue;
    if (found.length === OPEN_EARLY_MAX) return false;
    found.push(effect);
  }
  for (const effect of found) attempts.openEarly(effect);
  return found.length > 0;
}
