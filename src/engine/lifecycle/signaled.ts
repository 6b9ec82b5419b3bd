import { CANCEL_SIGNAL, entryType } from "../../model/journal.ts";
import type { Signaled } from "../../model/message.ts";
import { notify } from "../journal/notification.ts";
import type { Turn } from "../turn.ts";
import { canceled } from "./canceled.ts";

/**
 * A signal arrived. It is kept for whoever has not started yet, and dropped when nobody can hear it
 * any more (docs/spec/service-protocol.md#signals). The cancel signal is one as well: who sends it
 * does not matter.
 */
export function signaled(turn: Turn, { signal, reply }: Signaled): void {
  const { target, id, result } = signal;
  if (id.kind === "signal" && id.index === CANCEL_SIGNAL) canceled(turn, target);
  else notify(turn, target, { kind: "notification", type: entryType.signal, id, result });
  if (reply !== undefined) turn.emit({ type: "reply", reply, id: target, status: "done" });
}
