import { type SuspendCandidate, toSuspend } from "./suspend_candidates.ts";
import type { OutboundDeps } from "./options.ts";

/** How often waiting attempts are looked for. A request to suspend is answered in less. */
const LOOK_MS = 100;

/** How long others must have waited for slots before that is worth a record. */
const QUEUED_TOO_LONG_MS = 1_000;

/** The least time between two records. */
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
 * What happens while attempts wait for slots: those that hold one and only wait are asked to suspend,
 * and once in a while it is logged.
 */
export class SlotPressure {
  readonly #deps: Pick<OutboundDeps, "log">;
  /** When to look next, in milliseconds since the epoch. */
  #due = 0;
  /** Since when others wait, as of the last look. */
  #since: number | undefined;
  #warnAt = 0;

  constructor(deps: Pick<OutboundDeps, "log">) {
    this.#deps = deps;
  }

  /** When to look next, should anything wait. In milliseconds since the epoch. */
  get due(): number {
    return this.#due;
  }

  /** It is `now`. Answers when to look again; Infinity: when something waits. */
  check(now: number, running: Iterable<SlotHolder>, usage: SlotUsage): number {
    const { queued } = usage;
    if (queued === 0) return Infinity;
    if (now < this.#due) return this.#due;
    // Nobody looked in time: nothing waited meanwhile.
    if (now > this.#due + QUEUED_TOO_LONG_MS) this.#since = undefined;
    for (const attempt of toSuspend(running, { queued, now })) attempt.makeRoom(now);
    this.#warn(now, usage);
    return this.#due = now + LOOK_MS;
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
