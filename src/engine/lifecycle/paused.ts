import type { AttemptFailure, InvocationDraft } from "../../model/invocation.ts";
import { timerItem } from "../../model/rows.ts";
import type { ReplyStatus } from "../effect.ts";
import { recordEvent } from "../failure_history.ts";
import { setStatus } from "../flow/status.ts";
import type { Turn } from "../turn.ts";
import { unexpired } from "./unexpired.ts";

const PAUSED = { kind: "paused" } as const;

/**
 * Pauses an invocation until it is resumed (docs/spec/admin.md#operations-on-invocations). Of a running
 * one the input is ended, and it is paused as soon as it suspends or fails
 * (docs/spec/service-protocol.md#timers-of-an-attempt). A suspended one stays suspended.
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
    case "queued":
      if (draft.runningAt === undefined) return "notRunning";
      setPaused(turn, draft);
      return "done";
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

/** Pauses an invocation that has no attempt any more. `failure`: the cause, if it is one. */
export function pauseNow(turn: Turn, draft: InvocationDraft, failure?: AttemptFailure): void {
  draft.lastAttempt = undefined;
  setPaused(turn, draft, failure);
}

/** Pauses an invocation until its record is in the dead letter topic (decision 053). */
export function pauseForLetter(turn: Turn, draft: InvocationDraft): void {
  draft.lastAttempt = undefined;
  setStatus(turn, draft, { kind: "paused", letterSince: turn.now });
  draft.pausing = undefined;
  recordEvent(turn, draft, { kind: "paused", failure: draft.lastFailure });
}

/** The last attempt stays visible while its retry is put off (seen at the reference). */
function setPaused(turn: Turn, draft: InvocationDraft, failure?: AttemptFailure): void {
  setStatus(turn, draft, PAUSED);
  draft.pausing = undefined;
  recordEvent(turn, draft, { kind: "paused", failure });
}

/** Deletes the timer of the next retry. */
export function endBackOff(turn: Turn, { id, status }: InvocationDraft): void {
  if (status.kind !== "backingOff") return;
  const timer = { id, due: status.until, kind: "retry", index: 0 } as const;
  if (turn.find("timer", id, timerItem(timer))) turn.drop("timer", timer);
}
