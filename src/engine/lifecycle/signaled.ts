import { CANCEL_SIGNAL, entryType } from "../../model/journal.ts";
import type { Signaled } from "../../model/message.ts";
import { notify } from "../journal/notification.ts";
import type { Turn } from "../turn.ts";
import { canceled } from "./canceled.ts";

/**
 * A signal for an invocation. It is kept for one that has not started yet, and dropped for one that
 * is completed or unknown (docs/spec/service-protocol.md#signals). The cancel signal is one as well,
 * whatever its sender is.
 */
export function signaled(turn: Turn, { signal, reply }: Signaled): void {
  const { target, id, result } = signal;
  if (id.kind === "signal" && id.index === CANCEL_SIGNAL) canceled(turn, target);
  else notify(turn, target, { kind: "notification", type: entryType.signal, id, result });
  if (reply !== undefined) turn.emit({ type: "reply", reply, id: target, status: "done" });
}
