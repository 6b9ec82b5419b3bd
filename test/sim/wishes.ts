import type { ReplyStatus } from "../../src/engine/effect.ts";
import type { Operation } from "../../src/engine/event.ts";
import type { InvocationRow } from "../../src/model/invocation.ts";
import type { Entry } from "../../src/model/journal.ts";
import type { Operated } from "../../src/ports.ts";
import type { History } from "./history.ts";
import { must } from "./must.ts";
import { spokenOf } from "./spoken.ts";
import { cancelsOf, isSame, type Story } from "./story.ts";

export type Wish = Operation["kind"];

/** What an invocation was when somebody wished something. */
export interface Before {
  readonly story: Story | undefined;
  readonly status: string;
  readonly attempt: number;
  readonly cancels: number;
  readonly wakes: number;
  readonly pauses: number;
  readonly isPausing: boolean;
  readonly isFinished: boolean;
  readonly isForgotten: boolean;
}

/** What operators asked for, and that it is so when they are told that it is. */
export class Wishes {
  readonly #counts = new Map<string, number>();
  /** New invocations that somebody wants, and what they shall begin with. */
  readonly restarts = new Map<string, { readonly from: number; readonly story: Story }>();
  readonly #history: History;

  constructor(history: History) {
    this.#history = history;
  }

  /** How often this was asked for, whether it was heard or not. */
  count(id: string, wish: Wish): number {
    return this.#counts.get(`${wish} ${id}`) ?? 0;
  }

  /** Somebody asks. */
  asks(id: string, operation: Operation): Before {
    const { kind } = operation, story = this.#history.stories.get(id);
    this.#counts.set(`${kind} ${id}`, this.count(id, kind) + 1);
    if (operation.kind === "restart" && story) {
      this.restarts.set(operation.newId, { from: operation.from, story });
    }
    return this.look(id);
  }

  look(id: string): Before {
    const story = this.#history.stories.get(id);
    return {
      story,
      status: story?.row.status.kind ?? "unknown",
      attempt: story?.row.attempt ?? 0,
      cancels: story ? cancelsOf(story) : 0,
      wakes: this.count(id, "resume") + this.count(id, "kill"),
      pauses: this.count(id, "pause"),
      isPausing: story?.row.pausing ?? false,
      isFinished: story?.result !== undefined,
      isForgotten: story?.isForgotten ?? false,
    };
  }

  /** Somebody was answered. Whatever is said must be durable by now. */
  answered(id: string, operation: Operation, told: Operated & { readonly before: Before }): void {
    const { status, before } = told, story = this.#history.stories.get(id);
    const what = `${operation.kind} of "${id}" was answered "${status}"`;
    if (operation.kind === "restart" && status === "done") {
      const isNew = told.id === operation.newId && this.#history.stories.has(operation.newId);
      must(isNew, () => `${what} before there was a new one`);
    }
    // What died and came to life again meanwhile says nothing about what it was before.
    if (!story || story !== before.story) return;
    if (status === "done" || status === "underway") {
      must(this.#isDone(operation, before, { story, status }), () => `${what} before it was`);
    } else must(isRefusable({ status, before, story }), () => `${what}, and was ${before.status}`);
  }

  #isDone(
    operation: Operation,
    before: Before,
    { story, status }: { story: Story; status: ReplyStatus },
  ): boolean {
    const { row, result, isForgotten } = story;
    switch (operation.kind) {
      case "kill":
        return result !== undefined;
      case "cancel":
        if (status === "done") return result !== undefined && isForgotten;
        return result !== undefined || cancelsOf(story) > before.cancels;
      case "pause": {
        const isResting = row.pausing === true || row.status.kind === "paused";
        const { id } = row, { wakes } = this.look(id);
        const isWoken = wakes > before.wakes || cancelsOf(story) > before.cancels;
        return status === "done" || result !== undefined || isResting || isWoken;
      }
      case "resume": {
        const isPausedAgain = this.look(row.id).pauses > before.pauses;
        if (before.isPausing && row.pausing && !isPausedAgain) return false;
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
  { status, before, story }: { status: ReplyStatus; before: Before; story: Story },
): boolean {
  switch (status) {
    case "unknown":
      return before.isFinished || story.result !== undefined;
    case "completed":
      return story.result !== undefined;
    case "notCompleted":
    case "stillRunning":
      return !before.isFinished;
    case "notStarted":
    case "notRunning":
      return ["scheduled", "inboxed"].includes(before.status);
    case "noInput":
      return story.row.journal === 0;
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
export function mustBegin({ row, entries }: Story, { from, story }: {
  readonly from: number;
  readonly story: Story;
}): void {
  const { id, journal } = row;
  const wanted = beginning(story.entries, from);
  // Of a journal that was purged in the turn that ended it, the last entries were never seen.
  if (story.row.journal === 0 && !wanted) return;
  must(wanted, () => `"${id}" began as "${story.row.id}" to ${from} with open commands`);
  must(
    journal >= wanted.length && isSame(entries.slice(0, wanted.length), wanted),
    () => `"${id}" did not begin as "${story.row.id}" did`,
  );
  must(isSame(row.target, story.row.target), () => `"${id}" runs something else`);
  // What was never bound speaks whatever its deployment does.
  const isOther = row.pin && story.row.pin && row.pin.protocol !== story.row.pin.protocol;
  must(!isOther, () => `"${id}" speaks another version`);
}

/** Results and journals are kept as long as was promised, or until somebody purges them. */
export function mustBeKept(
  wishes: Wishes,
  { row: before }: Story,
  { row, drop }: { readonly row: InvocationRow; readonly drop: boolean },
): void {
  const { id, status, retention, journal, modifiedAt, completedAt } = row;
  if (status.kind !== "completed") return;
  const isStarted = row.runningAt !== undefined;
  if (!isStarted) return must(drop, () => `"${id}" never started and was kept`);
  if (wishes.count(id, "purge") > 0) return;
  const { resultMs, journalMs } = retention, age = modifiedAt - (completedAt ?? 0);
  must(!drop || age >= resultMs, () => `"${id}" was forgotten too early`);
  if (wishes.count(id, "purgeJournal") > 0) return;
  const isEarly = journal === 0 && before.journal > 0 && age < Math.min(resultMs, journalMs);
  must(!isEarly, () => `The journal of "${id}" was forgotten too early`);
}
