import { unreachable } from "../assert.ts";
import type { Outcome } from "../engine/event.ts";
import type { Message } from "../wire/decode.ts";
import { failedBySdk } from "./failed.ts";

/** A message with which an SDK ends an attempt, or one that changes nothing. */
type Control = Exclude<Message, { kind: "command" }>;

/**
 * The outcome of an attempt by a message that is not a command
 * (docs/spec/service-protocol.md#end-of-an-attempt). `delivered`: as in `RequestHalf`. Undefined:
 * the attempt continues.
 */
export function outcomeOf(message: Control, delivered: number): Outcome | undefined {
  switch (message.kind) {
    case "suspension":
      return { kind: "suspended", awaiting: message.awaiting, delivered };
    case "error":
      return failedBySdk(message);
    case "end":
      return { kind: "ended" };
    case "awaitingOn":
      return undefined;
    default:
      unreachable(message);
  }
}
