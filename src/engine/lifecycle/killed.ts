import { assert } from "../../assert.ts";
import type { InvocationRow } from "../../model/invocation.ts";
import { type Entry, entryType, type TerminalFailure } from "../../model/journal.ts";
import type { ReplyStatus } from "../effect.ts";
import type { Turn } from "../turn.ts";
import { deliver } from "../outbox.ts";
import { complete } from "./completed.ts";
import { unexpired } from "./unexpired.ts";

/**
 * Ends an invocation at once, and all that it called
 * (docs/spec/service-protocol.md#cancel-and-kill): level by level, because a chain of calls may be
 * deeper than the stack. Calls in other partitions are killed by messages.
 */
export function killed(turn: Turn, id: string): ReplyStatus {
  const status = refusal(turn, id);
  if (status) return status;
  for (let ids = [id]; ids.length > 0;) {
    turn.prefetch(ids);
    ids = ids.flatMap((id) => end(turn, id));
  }
  return "done";
}

function refusal(turn: Turn, id: string): ReplyStatus | undefined {
  const row = unexpired(turn, id);
  if (!row) return "unknown";
  return row.status.kind === "completed" ? "completed" : undefined;
}

/** Ends an invocation that is not completed, and returns its calls in this partition. */
function end(turn: Turn, id: string): readonly string[] {
  const row = unexpired(turn, id);
  if (!row || row.status.kind === "completed") return NOBODY;
  const children = childrenOf(turn, row);
  const draft = turn.edit(id);
  assert(draft, "An invocation that was found can be edited");
  if (row.status.kind === "invoked") turn.emit({ type: "abort", id, attempt: row.attempt });
  complete(turn, draft, KILLED);
  const isElsewhere = (child: string) => !turn.isLocal(child);
  for (const child of children.filter(isElsewhere)) deliver(turn, { type: "killed", id: child });
  return children.filter((child) => !isElsewhere(child));
}

const NOBODY: readonly string[] = [];
const KILLED: TerminalFailure = { code: 409, message: "killed" };

/** The ids of its calls and sends, from its journal. */
function childrenOf(turn: Turn, { id }: InvocationRow): string[] {
  const children: string[] = [];
  for (const { entry } of turn.list("journal", id)) {
    if (isIdOfCall(entry)) children.push(entry.result.id);
  }
  return children;
}

type CallId = Entry & { readonly result: { readonly kind: "invocationId"; readonly id: string } };

function isIdOfCall(entry: Entry): entry is CallId {
  return entry.kind === "notification" && entry.type === entryType.callInvocationIdCompletion &&
    entry.result.kind === "invocationId";
}
