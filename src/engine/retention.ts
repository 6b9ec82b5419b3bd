import type { InvocationDraft, InvocationRow } from "../model/invocation.ts";
import { objectOf, type Target } from "../model/target.ts";
import { forgetEvents } from "./failure_history.ts";
import type { Turn } from "./turn.ts";

/**
 * Decides how long a completed invocation stays (docs/spec/service-protocol.md#effective-options). Its
 * journal may be deleted before its result is; `expiresAt` is the earlier of the two. Without any
 * retention, it is deleted at once.
 */
export function retain(turn: Turn, draft: InvocationDraft): void {
  const { resultMs, journalMs } = draft.retention;
  if (resultMs <= 0) return forgetRetained(turn, draft);
  if (journalMs <= 0) forgetJournal(turn, draft);
  const first = journalMs > 0 && journalMs < resultMs ? journalMs : resultMs;
  draft.expiresAt = turn.now + first;
}

/** Whether the retention of the result of a completed invocation is over. */
export function isExpired(turn: Turn, { status, completedAt, retention }: InvocationRow): boolean {
  return status.kind === "completed" && turn.now >= (completedAt ?? 0) + retention.resultMs;
}

/** Until when a stored result is served, in milliseconds since the epoch. */
export function expiryOf({ completedAt, retention }: InvocationRow): { expiresAt?: number } {
  return completedAt === undefined ? {} : { expiresAt: completedAt + retention.resultMs };
}

/**
 * Drops the journal and the events. Counts in the invocation give the keys of these rows, so none of
 * them is read.
 */
export function forgetJournal(turn: Turn, draft: InvocationDraft): void {
  for (let index = 0; index < draft.journal; index++) {
    turn.drop("journal", { id: draft.id, index, at: 0, entry: NO_ENTRY });
  }
  draft.journal = 0;
  draft.commands = 0;
  forgetEvents(turn, draft);
}

/** Deletes an invocation: its row, its journal and its events. */
export function forgetWhole(turn: Turn, draft: InvocationDraft): void {
  forgetJournal(turn, draft);
  turn.forget(draft);
}

/**
 * Deletes a completed invocation; with the run of a workflow also its state and its promises
 * (docs/spec/service-protocol.md#promises).
 */
export function forgetRetained(turn: Turn, draft: InvocationDraft): void {
  forgetWhole(turn, draft);
  if (draft.target.access === "run") forgetWorkflow(turn, draft.target);
}

function forgetWorkflow(turn: Turn, { service, key = "", scope }: Target): void {
  const object = objectOf(service, key, scope);
  for (const row of turn.list("state", object)) turn.drop("state", row);
  for (const row of turn.list("promise", object)) {
    // A pending promise stays as long as a command waits for it: it may still be completed.
    if (row.result || row.listeners.length === 0) turn.drop("promise", row);
  }
}

/** Stands for the entry of a dropped row, which is identified by its index. */
const NO_ENTRY = { kind: "command", type: 0, bytes: new Uint8Array(0) } as const;
