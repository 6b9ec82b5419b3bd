import type { Inactivity } from "./inactivity.ts";

/** How long an attempt must have been silent before it is taken for one that waits. */
const SILENT_MS = 200;

/** How long an attempt that was asked to suspend counts as about to free its slot. */
const ASKED_MS = 1_000;

/** A running attempt, when others wait for its slot. */
export interface SuspendCandidate {
  readonly inactivity: Pick<Inactivity, "activeAt" | "askedAt">;
  /** Whether it can be asked, and nothing is known that explains its silence. */
  readonly canSuspend: boolean;
}

/**
 * Which attempts to ask to suspend, now that `queued` others wait for a slot: those that have been
 * silent for longest, and no more than there are others to take their slots. An attempt that was asked
 * a moment ago frees one of these slots. One that does not suspend after `ASKED_MS` is busy with
 * something nobody knows of, and another one is asked in its place.
 */
export function toSuspend<T extends SuspendCandidate>(
  running: Iterable<T>,
  { queued, now }: { readonly queued: number; readonly now: number },
): T[] {
  const silent: T[] = [];
  let wanted = queued;
  for (const attempt of running) {
    const { inactivity: { askedAt, activeAt } } = attempt;
    if (askedAt !== undefined && now < askedAt + ASKED_MS) wanted--;
    else if (attempt.canSuspend && now >= activeAt + SILENT_MS) silent.push(attempt);
  }
  if (wanted <= 0) return [];
  return silent.sort((a, b) => a.inactivity.activeAt - b.inactivity.activeAt).slice(0, wanted);
}
