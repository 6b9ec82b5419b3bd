import type { ReplyStatus } from "../../src/engine/effect.ts";
import type { Operation } from "../../src/engine/event.ts";
import type { InvocationRow } from "../../src/model/invocation.ts";
import { type Entry, entryType } from "../../src/model/journal.ts";
import type { Operated } from "../../src/ports.ts";
import type { History } from "./history.ts";
import { must } from "./must.ts";
import { spokenOf } from "./spoken.ts";
import { cancelsOf, type InvocationRecord, isSame } from "./invocation_record.ts";

export type OperationKind = Operation["kind"];

/** Operations that end an invocation. */
const ENDS = ["kill", "cancel"] as const;

/** The state of an invocation when an operation was requested. */
export interface Before {
  readonly record: InvocationRecord | undefined;
  readonly status: string;
  readonly attempt: number;
  readonly cancels: number;
  readonly wakes: number;
  readonly pauses: number;
  readonly isPausing: boolean;
  readonly isFinished: boolean;
  readonly isForgotten: boolean;
}

/** Records what operators request, and checks that what an answer says is durable. */
export class Operations {
  readonly #counts = new Map<string, number>();
  /** Invocations that restarts request, and what their journals must begin with. */
  readonly restarts = new Map<
    string,
    { readonly from: number; readonly record: InvocationRecord }
  >();
  readonly #history: History;

  constructor(history: History) {
    this.#history = history;
  }

  /** How often this was requested, whether the request arrived or not. */
  count(id: string, kind: OperationKind): number {
    return this.#counts.get(`${kind} ${id}`) ?? 0;
  }

  /** Whether it was requested to end an invocation. */
  hasEnded(id: string): boolean {
    return ENDS.some((kind) => this.count(id, kind) > 0);
  }

  /** Whether it was requested to end an invocation, or one that it was called by: that ends it, too. */
  hasEndedWithCallers({ id, origin }: InvocationRow): boolean {
    if (this.hasEnded(id)) return true;
    const caller = origin.by === "service" ? this.#history.records.get(origin.id) : undefined;
    return caller !== undefined && this.hasEndedWithCallers(caller.row);
  }

  /** An operator requests an operation. */
  asks(id: string, operation: Operation): Before {
    const { kind } = operation, record = this.#history.records.get(id);
    this.#counts.set(`${kind} ${id}`, this.count(id, kind) + 1);
    if (operation.kind === "restart" && record) {
      this.restarts.set(operation.newId, { from: operation.from, record });
    }
    return this.observe(id);
  }

  observe(id: string): Before {
    const record = this.#history.records.get(id);
    return {
      record,
      status: record?.row.status.kind ?? "unknown",
      attempt: record?.row.attempt ?? 0,
      cancels: record ? cancelsOf(record) : 0,
      wakes: this.count(id, "resume") + this.count(id, "kill"),
      pauses: this.count(id, "pause"),
      isPausing: record?.row.pausing ?? false,
      isFinished: record?.result !== undefined,
      isForgotten: record?.isForgotten ?? false,
    };
  }

  /** An operator got an answer. What it says must be durable by now. */
  answered(id: string, operation: Operation, reply: Operated & { readonly before: Before }): void {
    const { status, before } = reply, record = this.#history.records.get(id);
    const what = `${operation.kind} of "${id}" was answered "${status}"`;
    if (operation.kind === "restart" && status === "done") {
      const isNew = reply.id === operation.newId && this.#history.records.has(operation.newId);
      must(isNew, () => `${what} before there was a new one`);
    }
    // What died and came to life again meanwhile says nothing about what it was before.
    if (!record || record !== before.record) return;
    if (status === "done" || status === "underway") {
      must(this.#isDone(operation, before, { record, status }), () => `${what} before it was`);
    } else must(isRefusable({ status, before, record }), () => `${what}, and was ${before.status}`);
  }

  #isDone(
    operation: Operation,
    before: Before,
    { record, status }: { record: InvocationRecord; status: ReplyStatus },
  ): boolean {
    const { row, result, isForgotten } = record;
    switch (operation.kind) {
      case "kill":
        return result !== undefined;
      case "cancel":
        if (status === "done") return result !== undefined && isForgotten;
        return result !== undefined || cancelsOf(record) > before.cancels;
      case "pause": {
        const isPaused = row.pausing === true || row.status.kind === "paused";
        const { id } = row, { wakes } = this.observe(id);
        const isWoken = wakes > before.wakes || cancelsOf(record) > before.cancels;
        return status === "done" || result !== undefined || isPaused || isWoken;
      }
      case "resume": {
        const isPausedAgain = this.observe(row.id).pauses > before.pauses;
        if (before.isPausing && row.pausing && !isPausedAgain) return false;
        if (row.status.kind === "queued" || isPausedAgain) return true;
        return before.status !== "paused" || result !== undefined || row.attempt > before.attempt;
      }
      case "purge":
        return isForgotten;
      case "purgeJournal":
        return isForgotten || row.journal === 0;
      case "restart":
        return result !== undefined;
    }
  }
}

/** Whether it can be true, of an invocation that was so before and is this now. */
function isRefusable(
  { status, before, record }: { status: ReplyStatus; before: Before; record: InvocationRecord },
): boolean {
  switch (status) {
    case "unknown":
      return before.isFinished || record.result !== undefined;
    case "completed":
      return record.result !== undefined;
    case "notCompleted":
    case "stillRunning":
      return !before.isFinished;
    case "notStarted":
    case "notRunning":
      return ["scheduled", "inboxed", "queued"].includes(before.status);
    case "noInput":
      return record.row.journal === 0;
    default:
      return true;
  }
}

/** The beginning of a journal, with the completions of what it asks for; undefined: one is missing. */
export function beginning(entries: readonly Entry[], from: number): Entry[] | undefined {
  if (from >= entries.length) return undefined;
  const wanted = new Set<number>();
  for (const entry of entries.slice(0, from + 1)) {
    if (entry.kind !== "command") continue;
    const { completion, invocationId } = spokenOf(entry.bytes);
    for (const id of [completion, invocationId]) if (id !== undefined) wanted.add(id);
  }
  const isWanted = (entry: Entry) =>
    entry.kind === "notification" && entry.id.kind === "completion" && wanted.has(entry.id.id);
  const kept = entries.filter((entry, index) => index <= from || isWanted(entry));
  return kept.filter(isWanted).length === wanted.size ? kept : undefined;
}

/** That a restarted invocation begins with what it should, and with nothing else. */
export function mustBegin({ row, entries }: InvocationRecord, { from, record }: {
  readonly from: number;
  readonly record: InvocationRecord;
}): void {
  const { id, journal } = row;
  const wanted = beginning(record.entries, from);
  // Of a journal that was purged in the turn that ended it, the last entries were never seen.
  if (record.row.journal === 0 && !wanted) return;
  must(wanted, () => `"${id}" began as "${record.row.id}" to ${from} with open commands`);
  must(
    journal >= wanted.length && isSame(entries.slice(0, wanted.length), wanted),
    () => `"${id}" did not begin as "${record.row.id}" did`,
  );
  // Its handler does not say again what the journal has already.
  const isAnswered = wanted.some((entry) =>
    entry.kind === "command" && entry.type === entryType.output
  );
  const hasAnswer = row.answer !== undefined || row.status.kind === "completed";
  must(!isAnswered || hasAnswer, () => `"${id}" began with an output, and without its answer`);
  must(isSame(row.target, record.row.target), () => `"${id}" runs something else`);
  const { limitKey, priority } = record.row;
  const waitsAlike = row.limitKey === limitKey && row.priority === priority;
  must(waitsAlike, () => `"${id}" has another limit key or priority`);
  // What was never bound speaks whatever its deployment does.
  const isOther = row.pin && record.row.pin && row.pin.protocol !== record.row.pin.protocol;
  must(!isOther, () => `"${id}" speaks another version`);
}

/** Results and journals are kept as long as was promised, or until a purge. */
export function mustBeKept(
  operations: Operations,
  { row: before }: InvocationRecord,
  { row, drop }: { readonly row: InvocationRow; readonly drop: boolean },
): void {
  const { id, status, retention, journal, modifiedAt, completedAt } = row;
  if (status.kind !== "completed") return;
  const isStarted = row.runningAt !== undefined;
  if (!isStarted) return must(drop, () => `"${id}" never started and was kept`);
  if (operations.count(id, "purge") > 0) return;
  const { resultMs, journalMs } = retention, age = modifiedAt - (completedAt ?? 0);
  must(!drop || age >= resultMs, () => `"${id}" was forgotten too early`);
  if (operations.count(id, "purgeJournal") > 0) return;
  const isEarly = journal === 0 && before.journal > 0 && age < Math.min(resultMs, journalMs);
  must(!isEarly, () => `The journal of "${id}" was forgotten too early`);
}
