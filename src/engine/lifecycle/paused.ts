import type { AttemptFailure, InvocationDraft } from "../../model/invocation.ts";
import { timerItem } from "../../model/rows.ts";
import type { ReplyStatus } from "../effect.ts";
import { recordEvent } from "../failure_history.ts";
import type { Turn } from "../turn.ts";
import { unexpired } from "./unexpired.ts";

const PAUSED = { kind: "paused" } as const;

/**
 * Has an invocation rest until somebody resumes it (docs/spec/admin.md#operations-on-invocations).
 * A running one comes to rest by itself: its input is ended, and where it suspends or fails it is
 * paused (docs/spec/service-protocol.md#timers-of-an-attempt). A suspended one rests already.
 */
export function paused(turn: Turn, id: string): ReplyStatus {
  const status = unexpired(turn, id)?.status;
  const draft = status && turn.edit(id);
  if (!draft) return "unknown";
  switch (status.kind) {
    case "completed":
      return "completed";
    case "scheduled":
    case "inboxed":
      return "notRunning";
    case "suspended":
    case "paused":
      return "done";
    case "backingOff":
      endBackOff(turn, draft);
      setPaused(turn, draft, draft.lastFailure);
      return "underway";
    case "invoked":
      draft.pausing = true;
      turn.emit({ type: "yield", id, attempt: draft.attempt });
      return "underway";
  }
}

/** Has one that ran rest until somebody resumes it. `failure`: why, when that is why. */
export function pauseNow(turn: Turn, draft: InvocationDraft, failure?: AttemptFailure): void {
  draft.lastAttempt = undefined;
  setPaused(turn, draft, failure);
}

/** The attempt after which a retry was put off stays on show (seen at the reference). */
function setPaused(turn: Turn, draft: InvocationDraft, failure?: AttemptFailure): void {
  draft.status = PAUSED;
  draft.pausing = undefined;
  recordEvent(turn, draft, { kind: "paused", failure });
}

/** Takes back the timer of the next retry. */
export function endBackOff(turn: Turn, { id, status }: InvocationDraft): void {
  if (status.kind !== "backingOff") return;
  const timer = { id, due: status.until, kind: "retry", index: 0 } as const;
  if (turn.find("timer", id, timerItem(timer))) turn.drop("timer", timer);
}
