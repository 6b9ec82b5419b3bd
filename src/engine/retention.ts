import type { InvocationDraft, InvocationRow } from "../model/invocation.ts";
import type { Turn } from "./turn.ts";

/**
 * Says how long a completed invocation stays (service protocol §1.6). Its journal may go before
 * its result does; `expiresAt` is the earlier of the two. Nothing to keep: it goes at once.
 */
export function retain(turn: Turn, draft: InvocationDraft): void {
  const { resultMs, journalMs } = draft.retention;
  if (resultMs <= 0) return forgetWhole(turn, draft);
  if (journalMs <= 0) forgetJournal(turn, draft);
  const first = journalMs > 0 && journalMs < resultMs ? journalMs : resultMs;
  draft.expiresAt = turn.now + first;
}

/** Whether a completed invocation has been kept for as long as its result is kept. */
export function isOver(turn: Turn, { status, completedAt, retention }: InvocationRow): boolean {
  return status.kind === "completed" && turn.now >= (completedAt ?? 0) + retention.resultMs;
}

/** Drops the journal. Its length tells its rows, so none of them has to be read. */
export function forgetJournal(turn: Turn, draft: InvocationDraft): void {
  for (let index = 0; index < draft.journal; index++) {
    turn.drop("journal", { id: draft.id, index, at: 0, entry: NO_ENTRY });
  }
  draft.journal = 0;
  draft.commands = 0;
}

export function forgetWhole(turn: Turn, draft: InvocationDraft): void {
  forgetJournal(turn, draft);
  turn.forget(draft);
}

/** Stands for the entry of a dropped row: only its place matters. */
const NO_ENTRY = { kind: "command", type: 0, bytes: new Uint8Array(0) } as const;
