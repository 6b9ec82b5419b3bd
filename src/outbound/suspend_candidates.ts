import type { Inactivity } from "./inactivity.ts";

/** How long an attempt must have been inactive before it is assumed to wait. */
const SILENT_MS = 200;

/** How long an attempt that was asked to suspend counts as one that will free its slot. */
const ASKED_MS = 1_000;

/** A running attempt that may be asked to suspend because others wait for its slot. */
export interface SuspendCandidate {
  readonly inactivity: Pick<Inactivity, "activeAt" | "askedAt">;
  /** Whether it can be asked, and no running step explains its inactivity. */
  readonly canSuspend: boolean;
}

/**
 * Which attempts to ask to suspend while `queued` others wait for a slot: those that have been
 * inactive longest, and no more than there are others to take their slots. An attempt that was
 * asked less than `ASKED_MS` ago counts as one of these slots. One that has not suspended after
 * `ASKED_MS` is busy for a reason that is not known, and another one is asked in its place.
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
