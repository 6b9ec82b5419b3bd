import type { InvocationRow } from "../../src/model/invocation.ts";
import type { Controls } from "../../src/model/limits.ts";
import { PRIORITY_DEFAULT } from "../../src/model/queue.ts";
import type { Rows } from "../../src/model/rows.ts";
import type { Controllers } from "./controllers.ts";
import { must } from "./must.ts";
import { levelsOf, limitsAt, type SlotCommit } from "./slots.ts";

/** One that waits for a slot of one counter, and for nothing else. */
interface Waiter {
  readonly row: InvocationRow;
  readonly counter: string;
  /** Two for each priority, the higher one for what has run before. */
  readonly lane: number;
  readonly queue: string;
  /** When it was known to wait, at the latest, and when it had no grant for the last time. */
  readonly since: number;
  ungrantedAt: number;
}

/** Between which times a lane, or a queue, was served last or began to wait. */
interface Served {
  readonly from: number;
  readonly to: number;
}

export interface LaneOptions {
  readonly controllers: Pick<Controllers, "at">;
  /** The waiting that is worth a level of priority. */
  readonly agingMs: number;
  /** Whether there is one partition: otherwise slots of services may lack in one only. */
  readonly isAlone: boolean;
}

/**
 * Checks who goes first of those that wait for one counter in one partition, from its rows: a higher
 * priority, unless the lower one has waited long enough; one that has waited so long is passed by once at
 * most, which is the bound on its wait; and queues of a priority take turns. When a lane was served is known
 * from the moments at which commits were handed over, so only what is wrong for certain is found. Clocks must
 * be right. Whenever limits change, or another life of the partition begins, lanes begin anew.
 */
export class LaneCheck {
  readonly #options: LaneOptions;
  readonly #rows = new Map<string, InvocationRow>();
  #waiting = new Map<string, Waiter>();
  readonly #served = new Map<string, Served>();
  /** Counters at which some wait that also need others: those come and go unseen. */
  readonly #unclear = new Set<string>();
  /**
   * Lanes and queues of which one has left that had waited, in this life: a grant for it may go unseen. By
   * their names without the counter, since they may wait at another one before that.
   */
  readonly #void = new Set<string>();
  #version = -1;
  #now = -Infinity;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  commit(commit: SlotCommit): void {
    const { writes, since, until, view, before, now } = commit;
    const last = this.#waiting,
      isNew = !before || !view || since !== until ||
        until !== this.#version;
    if (!before) this.#void.clear();
    const started = this.#take(writes);
    this.#waiting = this.#waiters(commit);
    if (isNew) this.#beginAnew(commit);
    else this.#compare(last, { commit, started });
    for (const waiter of this.#waiting.values()) {
      if (view && !isGranted(waiter, commit)) waiter.ungrantedAt = now;
    }
    this.#version = until;
    this.#now = now;
  }

  /** Takes over the rows. Returns the ids of those whose next attempt was ordered. */
  #take(writes: SlotCommit["writes"]): ReadonlySet<string> {
    const started = new Set<string>();
    for (const { table, row, drop } of writes) {
      if (table !== "invocation") continue;
      const after = row as Rows["invocation"];
      const before = this.#rows.get(after.id);
      if (!drop && after.attempt > (before?.attempt ?? 0)) started.add(after.id);
      else if (before?.status.kind === "queued" && (drop || !isSamePlace(before, after))) {
        this.#void.add(before.status.queue).add(String(laneOf(before)));
      }
      if (drop) this.#rows.delete(after.id);
      else this.#rows.set(after.id, after);
    }
    return started;
  }

  #waiters({ until, now }: SlotCommit): Map<string, Waiter> {
    const controls = this.#options.controllers.at(until), found = new Map<string, Waiter>();
    for (const row of this.#rows.values()) {
      if (row.status.kind !== "queued") continue;
      const limited = levelsOf(row).filter((name) => isLimited(controls, name));
      const [counter] = limited;
      if (counter === undefined) continue;
      if (limited.length > 1 || !this.#isClear(controls, counter)) {
        for (const one of limited) this.#unclear.add(one);
      }
      const { status: { queue } } = row, lane = laneOf(row);
      const known = this.#waiting.get(row.id);
      const isKnown = known && isSamePlace(known.row, row);
      const times = isKnown ? known : { since: now, ungrantedAt: this.#now };
      const { since, ungrantedAt } = times;
      found.set(row.id, { row, counter, lane, queue, since, ungrantedAt });
    }
    return found;
  }

  #isClear(controls: Controls, counter: string): boolean {
    const { services, pausedDeployments, pausedQueues } = controls;
    const isPaused = pausedDeployments.size + pausedQueues.size > 0 ||
      [...services.values()].some(({ paused }) => paused);
    if (isPaused || limitsAt(controls, counter)?.rate) return false;
    return this.#options.isAlone || counter.startsWith("scope:");
  }

  #beginAnew(commit: SlotCommit): void {
    this.#served.clear();
    this.#unclear.clear();
    this.#waiting = new Map();
    this.#waiting = this.#waiters(commit);
    for (const waiter of this.#waiting.values()) {
      for (const key of keysOf(waiter)) this.#served.set(key, { from: -Infinity, to: commit.now });
    }
  }

  #compare(
    last: ReadonlyMap<string, Waiter>,
    { commit, started }: { readonly commit: SlotCommit; readonly started: ReadonlySet<string> },
  ): void {
    const { before, now } = commit, served: Waiter[] = [];
    for (const waiter of last.values()) {
      const { row: { id, status } } = waiter;
      if (status.kind === "queued" && before?.grants.has(status.seq)) continue;
      const after = this.#waiting.get(id), stays = after && isSamePlace(after.row, waiter.row);
      if (stays ? isGranted(after, commit) : started.has(id)) served.push(waiter);
    }
    const touched = new Set(served.flatMap(keysOf));
    for (const one of served) this.#mustGoFirst(one, { last, commit, touched });
    for (const one of served) {
      for (const key of keysOf(one)) this.#serve(key, { from: one.ungrantedAt, to: now });
    }
    this.#arrive(last, commit, started);
  }

  #serve(key: string, { from, to }: Served): void {
    const known = this.#served.get(key);
    this.#served.set(key, { from: Math.max(known?.from ?? -Infinity, from), to });
  }

  /** Lanes that began to wait, or may have been empty for a moment. */
  #arrive(
    last: ReadonlyMap<string, Waiter>,
    commit: SlotCommit,
    started: ReadonlySet<string>,
  ): void {
    const { now } = commit, stayed = new Set<string>(), known = new Set<string>();
    for (const waiter of last.values()) {
      for (const key of keysOf(waiter)) known.add(key);
      const after = this.#waiting.get(waiter.row.id);
      if (!after || !isSamePlace(after.row, waiter.row) || isGranted(after, commit)) continue;
      for (const key of keysOf(waiter)) stayed.add(key);
    }
    for (const waiter of this.#waiting.values()) {
      for (const key of keysOf(waiter)) {
        if (stayed.has(key)) continue;
        const from = known.has(key) ? this.#served.get(key)?.from ?? -Infinity : this.#now;
        this.#served.set(key, { from, to: now });
      }
    }
    // One that came and began within the commit may have been served in its lane, or have met no other.
    for (const id of started) {
      const row = this.#rows.get(id);
      if (!row || last.has(id)) continue;
      for (const [key, { from }] of this.#served) {
        if (levelsOf(row).some((name) => key.startsWith(`${name} `))) {
          this.#served.set(key, { from, to: now });
        }
      }
    }
  }

  #mustGoFirst(
    one: Waiter,
    { last, commit, touched }: {
      readonly last: ReadonlyMap<string, Waiter>;
      readonly commit: SlotCommit;
      readonly touched: ReadonlySet<string>;
    },
  ): void {
    const { counter, row: { id } } = one;
    if (this.#unclear.has(counter)) return;
    for (const other of last.values()) {
      const after = this.#waiting.get(other.row.id);
      if (other.counter !== counter || !after || !isSamePlace(after.row, other.row)) continue;
      if (other.since > one.ungrantedAt || isGranted(after, commit)) continue;
      const why = this.#whyBefore(other, one, { now: commit.now, touched });
      must(why === undefined, () => `"${id}" got a slot of "${counter}", and ${why}`);
    }
  }

  /** Why another one had to go first. Undefined: it had not. */
  #whyBefore(
    other: Waiter,
    one: Waiter,
    { now, touched }: { readonly now: number; readonly touched: ReadonlySet<string> },
  ): string | undefined {
    const { row: { id } } = other;
    const agedMs = Math.abs(one.lane - other.lane) / 2 * this.#options.agingMs;
    const isUnseen = (key: string) =>
      touched.has(key) || this.#void.has(key.slice(key.indexOf(" ") + 1));
    const [lane = "", queue = ""] = keysOf(other), [ownLane = "", ownQueue = ""] = keysOf(one);
    const at = (key: string) => this.#served.get(key) ?? { from: -Infinity, to: Infinity };
    if (other.lane > one.lane) {
      return now - at(ownLane).from < agedMs ? `"${id}" of a higher priority waits` : undefined;
    }
    if (other.lane < one.lane) {
      const isLate = !isUnseen(lane) && at(lane).to + agedMs < at(ownLane).from;
      return isLate ? `"${id}" has waited for ${now - at(lane).to} ms and was passed` : undefined;
    }
    if (other.queue === one.queue || isUnseen(queue)) return undefined;
    return at(queue).to < at(ownQueue).from ? `"${id}" is of a queue whose turn it is` : undefined;
  }
}

/** Two for each priority, as `LaneCheck` counts them. */
function laneOf({ priority = PRIORITY_DEFAULT, runningAt }: InvocationRow): number {
  return 2 * priority + (runningAt === undefined ? 0 : 1);
}

function keysOf({ counter, lane, queue }: Waiter): [lane: string, queue: string] {
  return [`${counter} ${lane}`, `${counter} ${queue}`];
}

function isSamePlace({ status: one }: InvocationRow, { status: other }: InvocationRow): boolean {
  return one.kind === "queued" && other.kind === "queued" && one.seq === other.seq;
}

function isGranted({ row: { status } }: Waiter, { view }: SlotCommit): boolean {
  return status.kind === "queued" && view?.grants.has(status.seq) === true;
}

function isLimited(controls: Controls, name: string): boolean {
  const { concurrency, rate } = limitsAt(controls, name) ?? {};
  return concurrency !== undefined || rate !== undefined;
}
