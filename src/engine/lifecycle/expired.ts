import type { Event } from "../event.ts";
import { forgetJournal, forgetRetained, isExpired } from "../retention.ts";
import type { Turn } from "../turn.ts";

/** A retention of a completed invocation is over: deletes its journal, or all of it. */
export function expired(turn: Turn, { id }: Event & { type: "expired" }): void {
  const row = turn.find("invocation", id);
  if (row?.status.kind !== "completed") return;
  if (row.expiresAt === undefined || turn.now < row.expiresAt) return;
  const draft = turn.draft({ ...row });
  if (isExpired(turn, row)) return forgetRetained(turn, draft);
  forgetJournal(turn, draft);
  draft.expiresAt = (row.completedAt ?? 0) + row.retention.resultMs;
}
