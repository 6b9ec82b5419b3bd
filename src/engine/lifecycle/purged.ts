import type { ReplyStatus } from "../effect.ts";
import { forgetJournal, forgetRetained } from "../retention.ts";
import type { Turn } from "../turn.ts";
import { unexpired } from "./unexpired.ts";

/**
 * Deletes a completed invocation, or its journal, before its retention is over
 * (docs/spec/service-protocol.md#retention).
 */
export function purged(turn: Turn, id: string, what: "purge" | "purgeJournal"): ReplyStatus {
  const row = unexpired(turn, id);
  if (!row) return "unknown";
  if (row.status.kind !== "completed") return "notCompleted";
  const draft = turn.edit(id);
  if (!draft) return "unknown";
  if (what === "purge") forgetRetained(turn, draft);
  else {
    forgetJournal(turn, draft);
    draft.expiresAt = (row.completedAt ?? 0) + row.retention.resultMs;
  }
  return "done";
}
