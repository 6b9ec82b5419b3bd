import type { Effect } from "../../src/engine/effect.ts";
import { type InvocationRow, resultOf } from "../../src/model/invocation.ts";
import { type Entry, entryType, type Result } from "../../src/model/journal.ts";
import type { Rows, Write } from "../../src/model/rows.ts";
import { objectOf } from "../../src/model/target.ts";
import type { Completed } from "../../src/ports.ts";
import { Deliveries } from "./deliveries.ts";
import { Lines } from "./lines.ts";
import { Messages, said } from "./messages.ts";
import { mustMay, mustSleep } from "./moves.ts";
import { must } from "./must.ts";
import { NOBODY } from "./names.ts";
import { States } from "./states.ts";
import {
  type InvocationRecord,
  isAnew,
  isPutToEnd,
  isSame,
  lives,
  mustHaveSaid,
  type Sleep,
} from "./invocation_record.ts";
import { mustBeDurable } from "./durable_effects.ts";
import { inOrder } from "./batch.ts";
import { mustBegin, mustBeKept, Operations } from "./operations.ts";
import type { World } from "./world.ts";

/**
 * The model of a run, independent of the server. It reads every commit, and checks the facts that may
 * never change: entries of a journal, a result, that an invocation was accepted once.
 */
export class History {
  readonly records = new Map<string, InvocationRecord>();
  readonly unfinished = new Set<string>();
  readonly states = new States();
  readonly operations = new Operations(this);
  readonly deliveries: Deliveries;
  /** The ids of those who have a name in programs. */
  readonly names = new Map<string, string>();
  /** Commits so far. */
  commits = 0;
  #epoch = 0;
  readonly #messages = new Messages(this);
  readonly #lines = new Lines();
  /** When an invocation may start at the earliest, as its client said. */
  readonly #delayed = new Map<string, number>();
  readonly #world: World;

  constructor(world: World, partitions: number) {
    this.#world = world;
    this.deliveries = new Deliveries(partitions);
  }

  commit(
    writes: readonly Write[],
    { epoch, partition }: { readonly epoch: number; readonly partition: number },
  ): void {
    this.commits++;
    this.#epoch = epoch;
    this.deliveries.commit(writes, partition);
    this.#messages.exchanged();
    for (const { table, row, drop } of inOrder(writes)) {
      if (table === "invocation") this.#invocation(row as Rows["invocation"], drop);
      else if (table === "journal" && !drop) this.#journal(row as Rows["journal"]);
      else if (table === "lock") this.#lines.lock(row as Rows["lock"], drop);
      else if (table === "inbox") this.#lines.inbox(row as Rows["inbox"], drop);
      else if (table === "promise") this.#messages.promise(row as Rows["promise"], drop);
    }
    this.#lines.settle();
    this.#messages.settle();
    for (const id of this.unfinished) mustSleep(this.record(id));
  }

  /** Whom a program means. */
  idOf(name: string): string {
    return this.names.get(name) ?? NOBODY;
  }

  /** A client wants an invocation to start then, and not before. */
  delays(id: string, startAt: number): void {
    this.#delayed.set(id, startAt);
  }

  /** An attempt says that it goes to sleep, and what may wake it. */
  suspends(id: string, sleep: Sleep): void {
    const record = this.record(id);
    // Of a process that died long ago, and knows nothing of it.
    if (sleep.attempt === record.row.attempt) record.sleep = sleep;
  }

  /** An attempt fails and says what shall become of its invocation. */
  gaveUp(id: string, attempt: number, behavior: "pause" | "fail"): void {
    const record = this.record(id);
    if (attempt === record.row.attempt) record.gaveUp = { attempt, behavior };
  }

  record(id: string): InvocationRecord {
    const record = this.records.get(id);
    must(record, () => `"${id}" was told to the world and is not durable`);
    return record;
  }

  /** Tells later whether an invocation still goes on, and no other one has its id. */
  isCurrent(id: string): () => boolean {
    const record = this.records.get(id);
    return () => this.records.get(id) === record && record?.result === undefined;
  }

  /** Nothing leaves before it is durable (law 2). */
  emitted(effect: Effect): void {
    mustBeDurable(this, effect);
  }

  accepted(id: string): void {
    this.record(id);
  }

  answered(id: string, { result }: Pick<Completed, "result">): void {
    this.record(id);
    must(this.hadResult(id, result), () => `"${id}" was answered falsely, or too early`);
  }

  /** Whether this was the result of some life of an invocation. */
  hadResult(id: string, result: Result): boolean {
    for (const record of lives(this.records.get(id))) {
      if (record.result && isSame(record.result, result)) return true;
    }
    // Of a life that began and ended within one turn no row was ever written.
    return isPutToEnd(result) && this.operations.hasEnded(id);
  }

  /** Whether a completed invocation has been kept for as long as it was to be. */
  isPast({ row: { completedAt = Infinity, retention } }: InvocationRecord): boolean {
    return this.#world.latest >= completedAt + retention.resultMs;
  }

  #invocation(row: InvocationRow, drop: boolean): void {
    const known = this.records.get(row.id);
    if (!known || isAnew(known, row)) this.#begin(row, drop, known);
    const record = this.record(row.id), before = record.row;
    this.#mustBeDue(row);
    if (before !== row) {
      must(row.attempt >= before.attempt, () => `"${row.id}" went back to #${row.attempt}`);
      mustBeKept(this.operations, record, { row, drop });
      this.#mayMove(record, row);
    }
    record.row = row;
    record.isForgotten = drop;
    if (row.status.kind === "completed") this.#completed(record);
    else {
      must(!record.result, () => `"${row.id}" was completed and is "${row.status.kind}" again`);
      must(!drop, () => `"${row.id}" was forgotten before it was completed`);
    }
    if (drop) this.#forgotten(row);
  }

  /** An id that was never used, or whose last invocation is forgotten. */
  #begin(row: InvocationRow, drop: boolean, known: InvocationRecord | undefined): void {
    const { id, origin } = row;
    must(!drop || row.status.kind === "completed", () => `"${id}" was dropped unaccepted`);
    const isReused = row.idempotencyKey !== undefined || row.target.access === "run";
    must(!known || isReused, () => `"${id}" was forgotten and came back`);
    if (known && !known.isForgotten) {
      const { row: old, result } = known;
      const isPutToEnd = this.operations.hasEndedWithCallers(old);
      const isPurged = this.operations.count(id, "purge") > 0 || this.isPast(known);
      must(result ? isPurged : isPutToEnd, () => `"${id}" was accepted twice`);
      known.isForgotten = true;
      if (old.runningAt !== undefined) this.#forgotten(old);
    }
    const restart = this.operations.restarts.get(id);
    const copied = origin.by === "restart" ? row.journal : 0;
    const record: InvocationRecord = {
      row,
      entries: [],
      result: undefined,
      isForgotten: false,
      since: this.commits,
      until: Infinity,
      copied,
      spoken: new Map(),
      signals: new Set(),
      epoch: this.#epoch,
      sleep: undefined,
      gaveUp: undefined,
      woken: 0,
      before: known,
    };
    this.records.set(id, record);
    this.unfinished.add(id);
    if (origin.by === "service") this.#messages.later(() => this.#wasAsked(record));
    if (origin.by !== "restart") return;
    must(restart, () => `Nobody wanted "${id}"`);
    this.#messages.later(() => mustBegin(record, restart));
  }

  #mayMove(record: InvocationRecord, row: InvocationRow): void {
    const before = record.row, epoch = this.#epoch;
    this.#messages.later(() => {
      const resumes = this.operations.count(row.id, "resume");
      mustMay({ record, before, row, epoch, resumes });
    });
  }

  /** With the run of a workflow go its state and its promises. */
  #forgotten({ target: { access, service, key = "", scope }, runningAt }: InvocationRow): void {
    if (access !== "run" || runningAt === undefined) return;
    this.states.forget(objectOf(service, key, scope));
    this.#messages.forgotten(objectOf(service, key, scope));
  }

  /** By a clock that may have been set back since. */
  #mustBeDue({ id, runningAt }: InvocationRow): void {
    const startAt = this.#delayed.get(id) ?? 0;
    const isDue = runningAt === undefined || this.#world.latest >= startAt;
    must(isDue, () => `"${id}" did not wait to be due`);
  }

  /** A caller learned the id of its callee, and so called it once. */
  #wasAsked({ row: { id, origin } }: InvocationRecord): void {
    if (origin.by !== "service") return;
    const knows = [...lives(this.record(origin.id))].some(({ row, entries, result }) =>
      // Its journal went in the turn that stored it.
      (result && row.journal === 0) || entries.some((one) =>
        one.kind === "notification" && one.result.kind === "invocationId" && one.result.id === id
      )
    );
    must(knows, () => `"${origin.id}" never asked for "${id}"`);
  }

  #completed(record: InvocationRecord): void {
    const result = resultOf(record.row), { id } = record.row;
    must(!record.result || isSame(record.result, result), () => `The result of "${id}" changed`);
    this.unfinished.delete(id);
    if (record.result) return;
    record.result = result;
    record.until = this.commits;
    const { row: { journal, target: { service, key = "", scope }, runningAt }, entries } = record;
    // What it wrote in its last turn went with its journal in the same turn.
    const isHidden = runningAt !== undefined && journal < entries.length || record.isForgotten;
    if (result.kind === "value") this.#messages.later(() => mustHaveSaid(record));
    if (isHidden || journal === 0) this.states.unknown.add(objectOf(service, key, scope));
    if (result.kind !== "failure" || !isPutToEnd(result)) return;
    if (result.failure.message === "killed") this.#messages.killed(record);
    else must(record.row.runningAt === undefined, () => `"${id}" was canceled after its start`);
  }

  #journal({ id, index, entry, at }: Rows["journal"]): void {
    const record = this.records.get(id);
    must(record, () => `"${id}" has a journal and was never accepted`);
    const { entries, row } = record;
    if (index < entries.length) {
      return must(isSame(entries[index], entry), () => `Entry ${index} of "${id}" changed`);
    }
    must(index === entries.length, () => `The journal of "${id}" has a gap before ${index}`);
    must(!record.result || record.until === this.commits, () => `"${id}" is over and goes on`);
    entries.push(entry);
    if (entry.kind === "command") this.#command(record, entry, index);
    else if (entry.kind === "notification") this.#notification(record, entry, { index, at });
    if (entry.kind !== "notification" || index < record.copied) return;
    if (row.target.access !== "shared") this.states.lazy(record, entry);
  }

  #command(record: InvocationRecord, entry: Entry & { kind: "command" }, index: number): void {
    const spoken = said(entry), { completion, invocationId } = spoken;
    if (completion !== undefined) record.spoken.set(completion, spoken);
    if (invocationId !== undefined) record.spoken.set(invocationId, spoken);
    if (index < record.copied) return;
    this.states.command(record, entry.type, spoken);
    this.#messages.command(record, entry.type, spoken);
  }

  #notification(
    record: InvocationRecord,
    entry: Entry & { kind: "notification" },
    { index, at }: { index: number; at: number },
  ): void {
    const { id, type, result } = entry;
    if (index < record.copied) return;
    this.#messages.notification(record, entry);
    if (id.kind !== "completion") return;
    const same = record.entries.filter((one) => one.kind === "notification" && isSame(one.id, id));
    must(same.length === 1, () => `Completion ${id.id} of "${record.row.id}" came twice`);
    const spoken = record.spoken.get(id.id);
    if (result.kind === "invocationId") this.#callee(result.id, Number(spoken?.x ?? 0));
    if (type !== entryType.sleepCompletion) return;
    must(at >= Number(spoken?.x), () => `A sleep of "${record.row.id}" ended early`);
  }

  /** A delayed one-way call fixes when its callee may start. */
  #callee(callee: string, startAt: number): void {
    if (startAt > 0) this.delays(callee, startAt);
    const row = this.records.get(callee)?.row;
    if (row) this.#mustBeDue(row);
  }
}
