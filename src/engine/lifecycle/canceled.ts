import { CANCEL_SIGNAL, entryType, type TerminalFailure } from "../../model/journal.ts";
import type { ReplyStatus } from "../effect.ts";
import { notify } from "../journal/notification.ts";
import type { Turn } from "../turn.ts";
import { complete } from "./completed.ts";
import { unexpired } from "./unexpired.ts";
import { wake } from "./started.ts";

/**
 * Asks an invocation to cancel itself, by a signal in its journal: the SDK turns it into an error
 * where the code waits, and cancels its calls (docs/spec/service-protocol.md#cancel-and-kill). An
 * invocation that has not started completes at once.
 */
export function canceled(turn: Turn, id: string): ReplyStatus {
  const row = unexpired(turn, id);
  if (!row) return "unknown";
  switch (row.status.kind) {
    case "completed":
      return "completed";
    case "scheduled":
    case "inboxed":
    case "queued":
      if (row.runningAt === undefined) return cancelNew(turn, id);
      // falls through: its code has begun, and must see the signal
    default: {
      notify(turn, id, CANCEL);
      const draft = turn.edit(id);
      // The only signal that ends a pause: otherwise the SDK would never receive it.
      if (draft?.status.kind === "paused") wake(turn, draft);
      return "underway";
    }
  }
}

function cancelNew(turn: Turn, id: string): ReplyStatus {
  const draft = turn.edit(id);
  if (draft) complete(turn, draft, CANCELED);
  return "done";
}

const CANCELED: TerminalFailure = { code: 409, message: "canceled" };

const CANCEL = {
  kind: "notification",
  type: entryType.signal,
  id: { kind: "signal", index: CANCEL_SIGNAL },
  result: { kind: "void" },
} as const;
