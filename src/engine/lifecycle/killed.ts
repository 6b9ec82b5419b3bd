import type { InvocationRow } from "../../model/invocation.ts";
import { type Entry, entryType, type TerminalFailure } from "../../model/journal.ts";
import type { ReplyStatus } from "../effect.ts";
import { deliver } from "../outbox.ts";
import type { Turn } from "../turn.ts";
import { complete } from "./completed.ts";
import { live } from "./live.ts";

/** Ends an invocation here and now, and with it what it called (service protocol §4.12). */
export function killed(turn: Turn, id: string): ReplyStatus {
  const row = live(turn, id);
  if (!row) return "unknown";
  if (row.status.kind === "completed") return "completed";
  const children = childrenOf(turn, row);
  const draft = turn.edit(id);
  if (!draft) return "unknown";
  if (row.status.kind === "invoked") turn.emit({ type: "abort", id, attempt: row.attempt });
  complete(turn, draft, KILLED);
  for (const child of children) deliver(turn, { type: "killed", id: child });
  return "done";
}

const KILLED: TerminalFailure = { code: 409, message: "killed" };

/** Whom it called and sent to, as far as its journal tells. */
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
