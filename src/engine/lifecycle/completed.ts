import { assert } from "../../assert.ts";
import { type InvocationDraft, resultOf } from "../../model/invocation.ts";
import type { TerminalFailure } from "../../model/journal.ts";
import { objectOf, type Target } from "../../model/target.ts";
import { setStatus } from "../flow/status.ts";
import { deliver } from "../outbox.ts";
import { forgetWhole, retain } from "../retention.ts";
import type { Turn } from "../turn.ts";
import { start } from "./started.ts";
import { applyEdit } from "./state_edited.ts";

const COMPLETED = { kind: "completed" } as const;

/**
 * Gives an invocation its result: the failure, or its last output. Sends it to the callers that wait,
 * and passes the lock of its key on.
 */
export function complete(turn: Turn, draft: InvocationDraft, failure?: TerminalFailure): void {
  const before = draft.status;
  setStatus(turn, draft, failure ? { kind: "completed", failure } : COMPLETED);
  draft.completedAt = turn.now;
  draft.answer = undefined;
  draft.pausing = undefined;
  draft.lastAttempt = undefined;
  if (failure) draft.output = undefined;
  const result = resultOf(draft);
  const { callers } = draft;
  turn.emit({ type: "completed", id: draft.id, result });
  if (callers.length > 0) draft.callers = [];
  turn.prefetch(callers.map(({ id }) => id));
  for (const caller of callers) deliver(turn, { type: "answered", caller, result });
  // A sleep that was never awaited must not complete a command of a later invocation of the same id.
  for (const timer of turn.list("timer", draft.id)) turn.drop("timer", timer);
  // No record stays of an invocation that never started (docs/spec/admin.md#operations-on-invocations).
  // While it is inboxed or scheduled it has no lock.
  if (before.kind === "inboxed") leaveInbox(turn, draft.target, before.seq);
  if (before.kind === "inboxed" || before.kind === "scheduled") return forgetWhole(turn, draft);
  handLockOver(turn, draft.target);
  if (before.kind === "queued" && draft.runningAt === undefined) return forgetWhole(turn, draft);
  retain(turn, draft);
}

/** Empties the row of an invocation in the inbox of its object. */
function leaveInbox(turn: Turn, { service, key, scope }: Target, seq: number): void {
  assert(key !== undefined, "Only calls of an object queue for it");
  const row = turn.find("inbox", objectOf(service, key, scope), seq);
  assert(row, "An inboxed invocation has a row in the inbox");
  turn.drop("inbox", row);
}

/**
 * Passes the lock of a key to the first of its inbox, or frees it
 * (docs/spec/service-protocol.md#service-types).
 */
function handLockOver(turn: Turn, { access, service, key, scope }: Target): void {
  if (access !== "exclusive") return;
  assert(key !== undefined, "An exclusive handler has a key");
  const object = objectOf(service, key, scope);
  const lock = turn.find("lock", object);
  assert(lock, "A completed object call must have held its lock");
  for (let { head } = lock; head < lock.tail; head++) {
    const next = turn.find("inbox", object, head);
    // A row is empty when its invocation was canceled while it waited.
    if (!next) continue;
    const { edit } = next;
    if (edit !== undefined) {
      applyEdit(turn, { ...next, edit });
      continue;
    }
    const successor = turn.edit(next.id);
    assert(successor?.status.kind === "inboxed", "An inbox row must name an inboxed invocation");
    turn.drop("inbox", next);
    turn.put("lock", { ...lock, holder: successor.id, head: head + 1 });
    return start(turn, successor);
  }
  turn.drop("lock", lock);
}
