import type { Event } from "../engine/event.ts";
import { objectOf } from "../model/target.ts";

/** An event in the mailbox. `durable` is called once its turn is on disk. */
export interface QueuedEvent {
  readonly event: Event;
  readonly durable: (() => void) | undefined;
}

/** Events of a turn block the process for as long as they have messages in them. */
export function framesOf(queued: QueuedEvent | undefined): number {
  const event = queued?.event;
  return event?.type === "framesReceived" ? event.frames.length : 1;
}

/**
 * Events with the same key come from one sender or are about one subject, and must run in the order in
 * which they came. No order is promised between those of different keys.
 */
export function keyOf(event: Event): string {
  switch (event.type) {
    case "delivered":
      return `from ${event.from}`;
    case "acknowledged":
      return `to ${event.to}`;
    case "stateEdited":
      return objectOf(event.service, event.key);
    case "signaled":
      return event.signal.target;
    default:
      return event.id;
  }
}
