import { type SuspendCandidate, toSuspend } from "./suspend_candidates.ts";
import type { OutboundDeps } from "./options.ts";

/** The interval of checks while attempts wait. An endpoint answers a request to suspend in less. */
const CHECK_MS = 100;

/** How long others must have waited for slots before that is logged. */
const QUEUED_TOO_LONG_MS = 1_000;

/** The least time between two log records. */
const WARN_MS = 60_000;

/** An attempt that holds a slot, and can be asked to free it. */
export interface SlotHolder extends SuspendCandidate {
  /** Asks it to suspend, as its inactivity timeout would. */
  makeRoom(now: number): void;
}

/** Slots in use, of how many, and attempts that wait for one. */
export interface SlotUsage {
  readonly used: number;
  readonly limit: number;
  readonly queued: number;
}

/**
 * Slot pressure: while attempts wait for slots, those that hold a slot and only wait are asked to
 * suspend, and the pressure is logged at intervals.
 */
export class SlotPressure {
  readonly #deps: Pick<OutboundDeps, "log">;
  /** When to check next, in milliseconds since the epoch. */
  #due = 0;
  /** Since when attempts wait, as of the last check. */
  #since: number | undefined;
  #warnAt = 0;

  constructor(deps: Pick<OutboundDeps, "log">) {
    this.#deps = deps;
  }

  /** When to check next if an attempt begins to wait. In milliseconds since the epoch. */
  get due(): number {
    return this.#due;
  }

  /** Checks at `now`. Returns when to check again; Infinity: when an attempt begins to wait. */
  check(now: number, running: Iterable<SlotHolder>, usage: SlotUsage): number {
    const { queued } = usage;
    if (queued === 0) return Infinity;
    if (now < this.#due) return this.#due;
    // The check is overdue, which happens only if no attempt waited meanwhile.
    if (now > this.#due + QUEUED_TOO_LONG_MS) this.#since = undefined;
    for (const attempt of toSuspend(running, { queued, now })) attempt.makeRoom(now);
    this.#warn(now, usage);
    return this.#due = now + CHECK_MS;
  }

  #warn(now: number, { used, limit, queued }: SlotUsage): void {
    this.#since ??= now;
    if (now < this.#since + QUEUED_TOO_LONG_MS || now < this.#warnAt) return;
    this.#warnAt = now + WARN_MS;
    this.#deps.log("warn", `${used} of ${limit} slots for attempts are in use, ${queued} queued`, {
      used,
      limit,
      queued,
      setting: "worker.invoker.concurrent-invocations-limit",
    });
  }
}
