import { unreachable } from "../assert.ts";
import type { Caller } from "../model/invocation.ts";
import type { NotificationResult } from "../model/journal.ts";
import type { Asked, Invoked, Signaled } from "./event.ts";
import { answered } from "./journal/notification.ts";
import { asked } from "./lifecycle/asked.ts";
import { invoked } from "./lifecycle/invoked.ts";
import { signaled } from "./lifecycle/signaled.ts";
import type { Turn } from "./turn.ts";

/** What invocations say to each other. */
export type Message =
  | Invoked
  | Asked
  | Signaled
  /** The answer to a command that waits for another invocation. */
  | { readonly type: "answered"; readonly caller: Caller; readonly result: NotificationResult };

/**
 * The door through which invocations speak to each other; only a kill goes past it, because it works
 * on generations (`lifecycle/killed.ts`). With a single partition everybody
 * is here, and a message is applied in the same turn; with several, this is where a message for
 * another one becomes an outbox row.
 */
export function deliver(turn: Turn, message: Message): void {
  switch (message.type) {
    case "invoked":
      return invoked(turn, message);
    case "asked":
      return asked(turn, message);
    case "signaled":
      return signaled(turn, message);
    case "answered":
      return answered(turn, message.caller, message.result);
    default:
      unreachable(message);
  }
}
