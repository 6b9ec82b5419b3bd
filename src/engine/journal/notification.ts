import { afterNotification } from "../../model/awaiting.ts";
import type { Caller, InvocationDraft } from "../../model/invocation.ts";
import type { Entry, NotificationResult } from "../../model/journal.ts";
import { setStatus } from "../flow/status.ts";
import { wake } from "../lifecycle/started.ts";
import type { Turn } from "../turn.ts";

export type Notification = Entry & { kind: "notification" };

/**
 * Appends a notification to somebody's journal and has it heard: pushed to a running attempt, or
 * the end of the wait of a suspended one. For anybody else it stays in the journal; an unknown or
 * completed invocation has no use for it (docs/spec/service-protocol.md#signals).
 */
export function notify(turn: Turn, id: string, entry: Notification): void {
  const row = turn.find("invocation", id);
  if (!row || row.status.kind === "completed") return;
  const draft = turn.edit(id);
  if (!draft) return;
  append(turn, draft, entry);
  if (draft.status.kind !== "suspended") return;
  const awaiting = afterNotification(draft.status.awaiting, entry.id, entry.result);
  if (!awaiting) wake(turn, draft);
  else if (awaiting !== draft.status.awaiting) {
    setStatus(turn, draft, { kind: "suspended", awaiting });
  }
}

/** Appends an entry. Notifications are sent to the running attempt. */
export function append(turn: Turn, draft: InvocationDraft, entry: Entry): void {
  const { id, journal: index, attempt } = draft;
  turn.put("journal", { id, index, at: turn.now, entry });
  draft.journal++;
  if (entry.kind !== "notification") draft.commands++;
  else if (draft.status.kind === "invoked") {
    turn.emit({ type: "notify", id, attempt, index, entry });
  }
}

/**
 * Completes a command that waits, by a notification of the type that the command needs
 * (docs/spec/service-protocol.md#message-types).
 */
export function completeCommand(turn: Turn, caller: Caller, result: NotificationResult): void {
  const row = turn.find("invocation", caller.id);
  if (caller.since !== undefined && row?.createdAt !== caller.since) return;
  notify(turn, caller.id, completion(caller, result));
}

/** The notification that completes a command. */
export function completion(
  { completion, type }: Pick<Caller, "completion" | "type">,
  result: NotificationResult,
): Notification {
  return { kind: "notification", type, id: { kind: "completion", id: completion }, result };
}
