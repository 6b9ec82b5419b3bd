import type { Command } from "../../model/command.ts";
import type { InvocationDraft } from "../../model/invocation.ts";
import { entryType } from "../../model/journal.ts";
import { setTimer } from "../lifecycle/timers.ts";
import type { Turn } from "../turn.ts";
import { append } from "./notification.ts";

/**
 * Sets a timer for the time that the SDK chose. A time in the past completes at once
 * (docs/spec/service-protocol.md#sleep).
 */
export function sleep(
  turn: Turn,
  draft: InvocationDraft,
  { bytes, completion, wakeAt }: Command & { kind: "sleep" },
): undefined {
  append(turn, draft, { kind: "command", type: entryType.sleep, bytes });
  if (wakeAt > turn.now) {
    setTimer(turn, { id: draft.id, due: wakeAt, kind: "sleep", index: completion });
    return;
  }
  append(turn, draft, {
    kind: "notification",
    type: entryType.sleepCompletion,
    id: { kind: "completion", id: completion },
    result: { kind: "void" },
  });
}
