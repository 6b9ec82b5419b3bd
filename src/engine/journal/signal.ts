import type { Command } from "../../model/command.ts";
import type { InvocationDraft } from "../../model/invocation.ts";
import { entryType } from "../../model/journal.ts";
import { deliver } from "../outbox.ts";
import type { Turn } from "../turn.ts";
import { append } from "./notification.ts";

/**
 * Sends a signal, or completes an awakeable, which is a signal
 * (docs/spec/service-protocol.md#signals).
 */
export function signal(
  turn: Turn,
  draft: InvocationDraft,
  frame: Command & { kind: "sendSignal" | "completeAwakeable" },
): undefined {
  append(turn, draft, { kind: "command", type: entryType[frame.kind], bytes: frame.bytes });
  if (frame.signal) deliver(turn, { type: "signaled", signal: frame.signal });
}
