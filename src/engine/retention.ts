import type { InvocationDraft, InvocationRow } from "../model/invocation.ts";
import { objectOf, type Target } from "../model/target.ts";
import { forgetEvents } from "./failure_history.ts";
import type { Turn } from "./turn.ts";

/**
 * Says how long a completed invocation stays (docs/spec/service-protocol.md#effective-options). Its
 * journal may go before its result does; `expiresAt` is the earlier of the two. Nothing to keep: it
 * goes at once.
 */
export function retain(turn: Turn, draft: InvocationDraft): void {
  const { resultMs, journalMs } = draft.retention;
  if (resultMs <= 0) return forgetRetained(turn, draft);
  if (journalMs <= 0) forgetJournal(turn, draft);
  const first = journalMs > 0 && journalMs < resultMs ? journalMs : resultMs;
  draft.expiresAt = turn.now + first;
}

/** Whether a completed invocation has been kept for as long as its result is kept. */
export function isExpired(turn: Turn, { status, completedAt, retention }: InvocationRow): boolean {
  return status.kind === "completed" && turn.now >= (completedAt ?? 0) + retention.resultMs;
}

/** Until when a stored result is served, in milliseconds since the epoch. */
export function expiryOf({ completedAt, retention }: InvocationRow): { expiresAt?: number } {
  return completedAt === undefined ? {} : { expiresAt: completedAt + retention.resultMs };
}

/**
 * Drops the journal and the events beside it. Their numbers tell their rows, so none of them has to
 * be read.
 */
export function forgetJournal(turn: Turn, draft: InvocationDraft): void {
  for (let index = 0; index < draft.journal; index++) {
    turn.drop("journal", { id: draft.id, index, at: 0, entry: NO_ENTRY });
  }
  draft.journal = 0;
  draft.commands = 0;
  forgetEvents(turn, draft);
}

/** Forgets an invocation that leaves nothing behind: its row and its journal. */
export function forgetWhole(turn: Turn, draft: InvocationDraft): void {
  forgetJournal(turn, draft);
  turn.forget(draft);
}

/**
 * Forgets a completed invocation; with a workflow's run go its state and its promises
 * (docs/spec/service-protocol.md#promises).
 */
export function forgetRetained(turn: Turn, draft: InvocationDraft): void {
  forgetWhole(turn, draft);
  if (draft.target.access === "run") forgetWorkflow(turn, draft.target);
}

function forgetWorkflow(turn: Turn, { service, key = "" }: Target): void {
  const object = objectOf(service, key);
  for (const row of turn.list("state", object)) turn.drop("state", row);
  for (const row of turn.list("promise", object)) {
    // An open one stays for as long as somebody waits for it: it may yet be kept.
    if (row.result || row.listeners.length === 0) turn.drop("promise", row);
  }
}

/** Stands for the entry of a dropped row: only its place matters. */
const NO_ENTRY = { kind: "command", type: 0, bytes: new Uint8Array(0) } as const;
