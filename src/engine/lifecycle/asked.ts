import { assert } from "../../assert.ts";
import { type Caller, type InvocationRow, resultOf } from "../../model/invocation.ts";
import type { Result } from "../../model/journal.ts";
import type { Asked } from "../../model/message.ts";
import type { Reply } from "../effect.ts";
import { deliver } from "../outbox.ts";
import { expiryOf, isExpired } from "../retention.ts";
import type { Turn } from "../turn.ts";

/** A request for the result of an invocation (docs/spec/service-protocol.md#results-of-others). */
export function asked(turn: Turn, event: Asked): void {
  const row = turn.findAlone(event.id);
  const known = row && !isExpired(turn, row) ? row : undefined;
  if (event.caller) answer(turn, known, { ...event, caller: event.caller });
  if (event.reply !== undefined) {
    turn.emit({ type: "reply", reply: event.reply, id: event.id, ...replyTo(known, event.wait) });
  }
}

function answer(
  turn: Turn,
  known: InvocationRow | undefined,
  { id, wait, caller }: Asked & { caller: Caller },
): void {
  if (!known) return deliver(turn, { type: "answered", caller, result: NOT_FOUND });
  if (known.status.kind === "completed") {
    return deliver(turn, { type: "answered", caller, result: resultOf(known) });
  }
  if (!wait) return deliver(turn, { type: "answered", caller, result: { kind: "void" } });
  addCaller(turn, id, caller);
}

function replyTo(
  known: InvocationRow | undefined,
  wait: boolean,
): Omit<Reply, "type" | "reply" | "id"> {
  if (!known) return { status: "unknown" };
  const { target } = known;
  if (known.status.kind === "completed") {
    return { status: "done", target, result: resultOf(known), ...expiryOf(known) };
  }
  return { status: wait ? "accepted" : "notReady", target };
}

/** Adds an invocation to those that get the result of another one. */
export function addCaller(turn: Turn, id: string, caller: Caller): void {
  const draft = turn.edit(id);
  assert(draft, "A known invocation can be attached to");
  draft.callers = [...draft.callers, caller];
}

const NOT_FOUND: Result = { kind: "failure", failure: { code: 404, message: "not found" } };
