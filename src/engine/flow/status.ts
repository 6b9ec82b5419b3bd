import {
  holdsSlots,
  type InvocationDraft,
  type Status,
  type WaitedMs,
} from "../../model/invocation.ts";
import type { Turn } from "../turn.ts";
import { freed } from "./share.ts";

/**
 * Changes the status of an invocation: the only way to do it, since the slots follow. Also ends the time
 * that it has waited, and counts suspensions.
 */
export function setStatus(turn: Turn, draft: InvocationDraft, status: Status): void {
  const before = draft.status;
  (draft as { status: Status }).status = status;
  const held = holdsSlots(before), holds = holdsSlots(status);
  if (held !== holds) turn.slots.change(draft, holds ? 1 : -1);
  if (held && !holds) freed(turn, draft);
  if (before.kind === "queued" && status.kind !== "queued") {
    addWait(draft, before.by, turn.now - before.since);
  } else if (before.kind === "inboxed") {
    addWait(draft, "lock", turn.now - (draft.inboxedAt ?? turn.now));
  }
  if (before.kind === "suspended") resumed(draft, turn.now);
  if (status.kind === "suspended") {
    const { count = 0, ms = 0 } = draft.suspensions ?? {};
    draft.suspensions = { ...draft.suspensions, count: count + 1, ms, since: turn.now };
  }
}

/** A suspension is over. One that began under a version that did not count them is not known. */
function resumed(draft: InvocationDraft, now: number): void {
  const { suspensions } = draft;
  if (!suspensions) return;
  const { since = now, ...past } = suspensions;
  draft.suspensions = { ...past, ms: past.ms + Math.max(0, now - since) };
}

/**
 * Adds the time that an attempt waited for a slot, in milliseconds. It is known with the first event of
 * the attempt: to write a row at its start would cost each waiting attempt a commit.
 */
export function addSlotWait(draft: InvocationDraft, waitedMs: number | undefined): void {
  if (waitedMs !== undefined && draft.heard === 0) addWait(draft, "invoker", waitedMs);
}

function addWait(draft: InvocationDraft, cause: keyof WaitedMs, ms: number): void {
  if (ms <= 0) return;
  draft.waitedMs = { ...draft.waitedMs, [cause]: (draft.waitedMs?.[cause] ?? 0) + ms };
}
