import type { Command } from "../../model/command.ts";
import type { InvocationDraft } from "../../model/invocation.ts";
import { entryType } from "../../model/journal.ts";
import type { Turn } from "../turn.ts";
import { append } from "./notification.ts";

/**
 * Stores the result of a side effect as an entry, so that it is never computed again
 * (docs/spec/service-protocol.md#runs).
 */
export function runCompleted(
  turn: Turn,
  draft: InvocationDraft,
  { completion, result }: Command & { kind: "runCompletion" },
): undefined {
  append(turn, draft, {
    kind: "notification",
    type: entryType.runCompletion,
    id: { kind: "completion", id: completion },
    result,
  });
}
