import type { InvocationRow } from "../../src/model/invocation.ts";
import type { Controls, Limits, Rate } from "../../src/model/limits.ts";
import { printQueueId, queueOf } from "../../src/model/queue.ts";
import type { Rows, Write } from "../../src/model/rows.ts";
import { lacksToken, type PlacedBucket } from "./buckets.ts";
import type { HandOver, SlotsView } from "./connection.ts";
import type { Controllers } from "./controllers.ts";
import { must } from "./must.ts";

/** A commit, and what its owner believed when it handed it over. */
export interface SlotCommit extends HandOver {
  readonly writes: readonly Write[];
}

/** One that waits for its first start, and the first change of the controls that it may have seen. */
interface Waiting {
  readonly row: InvocationRow;
  readonly since: number;
}

/** A first start that took a token of a counter. */
interface Start {
  readonly at: number;
  /** As in `SlotCommit`. */
  readonly since: number;
}

/**
 * Counts slots from the rows of one partition, in a way of its own, and compares: with what the server
 * counts, with limits, with the order of those that wait, and with rates.
 */
export class SlotCheck {
  readonly #controllers: Pick<Controllers, "at" | "schema">;
  /** Whether all clocks are right: only then is known what a rate allows. */
  readonly #isPunctual: boolean;
  /** Whether there is one partition: otherwise rates of services are of all together (`starts.ts`). */
  readonly #isAlone: boolean;
  readonly #rows = new Map<string, InvocationRow>();
  readonly #held = new Map<string, number>();
  readonly #waiting = new Map<string, Waiting>();
  /** Those that began to wait in the commit that is being checked. */
  readonly #fresh = new Set<string>();
  readonly #starts = new Map<string, Start[]>();
  /** Counters of which a slot was taken in the last commit. */
  readonly taken = new Set<string>();
  /** Invocations that began for the first time in the last commit. */
  readonly started: InvocationRow[] = [];

  constructor(
    controllers: Pick<Controllers, "at" | "schema">,
    { isPunctual, isAlone = true }: { readonly isPunctual: boolean; readonly isAlone?: boolean },
  ) {
    this.#controllers = controllers;
    this.#isPunctual = isPunctual;
    this.#isAlone = isAlone;
  }

  commit(commit: SlotCommit): void {
    this.#fresh.clear();
    this.taken.clear();
    this.started.length = 0;
    const { taken } = this, started: [InvocationRow | undefined, InvocationRow][] = [];
    for (const { table, row, drop } of commit.writes) {
      if (table !== "invocation") continue;
      const after = row as Rows["invocation"], before = this.#rows.get(after.id);
      if (drop) this.#rows.delete(after.id);
      else this.#rows.set(after.id, after);
      const held = before !== undefined && holds(before), isHeld = !drop && holds(after);
      for (const name of levelsOf(after)) {
        if (held) this.#add(name, -1);
        if (isHeld) this.#add(name, 1);
        if (isHeld && !held) taken.add(name);
      }
      if (after.runningAt !== undefined && before?.runningAt === undefined) {
        started.push([before, after]);
        this.started.push(after);
      }
      this.#wait(after, drop, commit.since);
    }
    for (const name of taken) this.#mustHaveRoom(name, commit);
    this.#mustHavePlaces();
    if (commit.view) this.#mustAgree(commit.view);
    for (const [before, row] of started) {
      this.#mustBeNext({ before, row }, commit);
      if (this.#isPunctual) this.#mustHaveToken(row, commit);
    }
  }

  /** Invocations of this partition that hold a slot of a counter. */
  held(name: string): number {
    return this.#held.get(name) ?? 0;
  }

  /**
   * Those that wait though nothing holds them back. `buckets`: all rows, each with the clock of the
   * process that has it. `all`: of all partitions, which share the slots of services. `isFar`: those may
   * be in a message that is under way.
   */
  startable({ buckets, all, isFar }: {
    readonly buckets: readonly PlacedBucket[];
    readonly all: readonly SlotCheck[];
    readonly isFar: boolean;
  }): string[] {
    const { controls } = this.#controllers.schema, free: string[] = [];
    for (const row of this.#rows.values()) {
      if (row.status.kind !== "queued") continue;
      const isHeldBack = levelsOf(row).some((name) => {
        const { concurrency = Infinity, rate } = limitsAt(controls, name) ?? {};
        const isShared = all.length > 1 && !name.startsWith("scope:");
        if (isShared && isFar && (concurrency < Infinity || rate)) return true;
        const places = isShared ? all : [this];
        if (places.reduce((sum, one) => sum + one.held(name), 0) >= concurrency) return true;
        if (!rate || row.runningAt !== undefined) return false;
        const home = isShared ? undefined : all.indexOf(this);
        return lacksToken(buckets, { counter: name, rate, home });
      });
      if (!isHeldBack) free.push(row.id);
    }
    return free;
  }

  #add(name: string, by: number): void {
    const sum = (this.#held.get(name) ?? 0) + by;
    if (sum === 0) this.#held.delete(name);
    else this.#held.set(name, sum);
  }

  #wait(row: InvocationRow, drop: boolean, since: number): void {
    const { id, status, runningAt } = row;
    if (drop || status.kind !== "queued" || runningAt !== undefined) {
      this.#waiting.delete(id);
      return;
    }
    const known = this.#waiting.get(id);
    if (!known) this.#fresh.add(id);
    this.#waiting.set(id, { row, since: known?.since ?? since });
  }

  /** No two wait at one place. */
  #mustHavePlaces(): void {
    const places = new Map<number, string>();
    for (const { id, status } of this.#rows.values()) {
      if (status.kind !== "queued") continue;
      const other = places.get(status.seq);
      must(other === undefined, () => `"${id}" and "${other}" wait at place ${status.seq}`);
      places.set(status.seq, id);
    }
  }

  /** No more hold a slot than the limit that held when the last of them started. */
  #mustHaveRoom(name: string, { since, until }: SlotCommit): void {
    let limit = 0;
    for (let version = since; version <= until; version++) {
      const { concurrency = Infinity } = limitsAt(this.#controllers.at(version), name) ?? {};
      limit = Math.max(limit, concurrency);
    }
    const held = this.#held.get(name) ?? 0;
    must(held <= limit, () => `${held} hold slots of "${name}", which has ${limit}`);
  }

  /** What the server counts is what is durable. */
  #mustAgree({ counts, grants }: SlotsView): void {
    let reserved = 0;
    for (const [name, count] of counts) {
      if (name.startsWith("service:")) reserved += count.reserved;
      const held = this.#held.get(name) ?? 0;
      must(
        count.used === held,
        () => `The server counts ${count.used} of "${name}", and ${held} hold slots`,
      );
      must(count.reserved >= 0, () => `${count.reserved} slots of "${name}" are reserved`);
    }
    for (const [name, held] of this.#held) {
      must(counts.has(name), () => `${held} hold slots of "${name}", and the server counts none`);
    }
    must(
      reserved === grants.size,
      () => `${reserved} slots are reserved for ${grants.size} grants`,
    );
  }

  /** First in, first out, of those that wait for the same, while nothing else has changed. */
  #mustBeNext(
    { before, row }: { readonly before: InvocationRow | undefined; readonly row: InvocationRow },
    { since, until, view, before: last }: SlotCommit,
  ): void {
    if (since !== until) return;
    const own = before?.status.kind === "queued" ? before.status.seq : Infinity;
    const controls = this.#controllers.at(until);
    // What nothing limits any more starts at once, though some may wait whose grants are under way.
    if (levelsOf(row).every((name) => !isLimited(limitsAt(controls, name)))) return;
    for (const { row: other, since: first } of this.#waiting.values()) {
      const { status, id } = other;
      if (status.kind !== "queued" || status.seq >= own || lineOf(other) !== lineOf(row)) continue;
      if (view?.grants.has(status.seq) || last?.grants.has(status.seq)) continue;
      // It began to wait in the same commit, perhaps after this start.
      if (own === Infinity && this.#fresh.has(id)) continue;
      if (this.#isMoved(first, until, other)) continue;
      must(false, () => `"${row.id}" began, and "${id}" waits before it`);
    }
  }

  /** Whether its queue has had another name meanwhile. */
  #isMoved(since: number, until: number, row: InvocationRow): boolean {
    const { service, handler } = row.target;
    const queueId = printQueueId(queueOf(row));
    const names = new Set<string>();
    for (let version = since; version <= until; version++) {
      const { pausedDeployments, pausedQueues, services } = this.#controllers.at(version);
      const own = services.get(service)?.handlers?.[handler] !== undefined;
      names.add(`${own} ${pausedDeployments.size > 0} ${pausedQueues.has(queueId)}`);
    }
    return names.size > 1;
  }

  /** No more starts than a bucket allows that was full at any moment since the rate is what it is. */
  #mustHaveToken(row: InvocationRow, { since, until }: SlotCommit): void {
    const at = row.runningAt ?? 0;
    for (const name of levelsOf(row)) {
      const { rate } = limitsAt(this.#controllers.at(until), name) ?? {};
      const starts = this.#starts.get(name) ?? [];
      this.#starts.set(name, starts);
      starts.push({ at, since });
      if (!rate || !this.#isAlone && !name.startsWith("scope:")) continue;
      const from = unchangedSince(this.#controllers, name, { rate, until });
      if (since < from) continue;
      const counted = starts.filter((one) => one.since >= from);
      for (const { at: first } of counted) {
        const count = counted.filter((one) => one.at >= first && one.at <= at).length;
        const { count: perPeriod, periodMs, burst = perPeriod } = rate;
        const allowed = burst + Math.max(0, at - first) * perPeriod / periodMs;
        must(
          count <= allowed + 1e-6,
          () => `${count} of "${name}" began in ${at - first} ms, and ${allowed} may`,
        );
      }
    }
  }
}

/** The first change of the controls since which a counter has had this rate. */
export function unchangedSince(
  controllers: Pick<Controllers, "at">,
  name: string,
  { rate, until }: { readonly rate: Rate; readonly until: number },
): number {
  let from = until;
  while (from > 0) {
    const { rate: before } = limitsAt(controllers.at(from - 1), name) ?? {};
    if (JSON.stringify(before) !== JSON.stringify(rate)) break;
    from--;
  }
  return from;
}

function holds({ status }: InvocationRow): boolean {
  return status.kind === "invoked" || (status.kind === "backingOff" && status.holds === true);
}

/** The counters of an invocation. */
export function levelsOf(
  { target: { service, handler, scope }, limitKey }: InvocationRow,
): string[] {
  const levels = [`handler:${service}/${handler}`, `service:${service}`];
  if (scope === undefined) return levels;
  const path = [scope, ...limitKey?.split("/") ?? []];
  return [...levels, ...path.map((_, depth) => `scope:${path.slice(0, depth + 1).join("/")}`)];
}

/** Those with the same line wait in the order in which they came. */
function lineOf({ target, limitKey, priority, pin }: InvocationRow): string {
  const { service, handler, scope } = target;
  return JSON.stringify([service, handler, scope, limitKey, priority, pin?.deployment]);
}

/** Whether limits keep anything from starting: those of a service or a rule may be empty. */
function isLimited({ concurrency, rate }: Limits = {}): boolean {
  return concurrency !== undefined || rate !== undefined;
}

/** The limits of a counter. */
export function limitsAt({ services, rules }: Controls, name: string): Limits | undefined {
  const [kind, rest = ""] = name.split(":");
  if (kind === "service") return services.get(rest)?.limits;
  if (kind === "handler") {
    const [service = "", handler = ""] = rest.split("/");
    return services.get(service)?.handlers?.[handler];
  }
  const wanted = rest.split("/");
  const matches = rules.rules.filter(({ pattern, disabled }) => {
    const parts = pattern.split("/");
    return !disabled && parts.length === wanted.length &&
      parts.every((part, level) => part === "*" || part === wanted[level]);
  });
  // The leftmost exact component decides.
  const rank = (pattern: string) => pattern.split("/").map((part) => part === "*" ? 0 : 1).join("");
  matches.sort((one, other) => rank(one.pattern) < rank(other.pattern) ? 1 : -1);
  return matches[0]?.limits;
}
