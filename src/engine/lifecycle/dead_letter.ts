import { letterSinceOf } from "../../model/invocation.ts";
import type { OwedLetter } from "../../model/kafka.ts";
import type { LetterAsked } from "../event.ts";
import type { Turn } from "../turn.ts";
import { completeFailed } from "./giving_up.ts";

/**
 * A sidecar asks for the dead letter of an invocation, or has written it: then the invocation fails
 * (decision 053). One that was resumed, killed or canceled meanwhile owes none, or another one.
 */
export function letterAsked(turn: Turn, { id, written, reply }: LetterAsked): void {
  const letter = written === undefined ? letterOf(turn, id) : undefined;
  if (written !== undefined) letterWritten(turn, id, written);
  turn.emit({ type: "reply", reply, id, status: "done", ...(letter && { letter }) });
}

function letterWritten(turn: Turn, id: string, attempt: number): void {
  const row = turn.find("invocation", id);
  if (!row || letterSinceOf(row) === undefined || row.attempt !== attempt) return;
  completeFailed(turn, turn.draft({ ...row }));
}

function letterOf(turn: Turn, id: string): OwedLetter | undefined {
  const row = turn.find("invocation", id);
  const at = row && letterSinceOf(row);
  if (at === undefined || row?.origin.by !== "subscription") return undefined;
  const input = turn.find("journal", id, 0)?.entry;
  if (input?.kind !== "input") return undefined;
  const { headers, value } = input;
  const reason = row.lastFailure?.message ?? "unknown";
  return { id, attempt: row.attempt, subscription: row.origin.id, at, reason, headers, value };
}
