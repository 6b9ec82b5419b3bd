import type { Event } from "../event.ts";
import { forgetJournal, forgetRetained, isExpired } from "../retention.ts";
import type { Turn } from "../turn.ts";

/** A completed invocation has been kept long enough: its journal first, then its result. */
export function expired(turn: Turn, { id }: Event & { type: "expired" }): void {
  const row = turn.find("invocation", id);
  if (row?.status.kind !== "completed") return;
  if (row.expiresAt === undefined || turn.now < row.expiresAt) return;
  const draft = turn.draft({ ...row });
  if (isExpired(turn, row)) return forgetRetained(turn, draft);
  forgetJournal(turn, draft);
  draft.expiresAt = (row.completedAt ?? 0) + row.retention.resultMs;
}
