import type { Event } from "../engine/event.ts";
import { sourceOf } from "../model/rows.ts";
import { objectOf } from "../model/target.ts";

/** An event in the mailbox. `durable` is called once its turn is durable. */
export interface QueuedEvent {
  readonly event: Event;
  readonly durable: (() => void) | undefined;
}

/** The weight of an event: a turn blocks the process in proportion to its frames and records. */
export function framesOf(queued: QueuedEvent | undefined): number {
  const event = queued?.event;
  if (event?.type === "framesReceived") return event.frames.length;
  return event?.type === "ingested" ? Math.max(1, event.records.length) : 1;
}

/**
 * Events with the same key have one sender or one subject, and must run in the order of their arrival.
 * Events of different keys have no order.
 */
export function keyOf(event: Event): string {
  switch (event.type) {
    case "delivered":
      return `from ${event.from}`;
    case "acknowledged":
      return `to ${event.to}`;
    case "ingested":
      return `records ${sourceOf({ home: 0, source: event.source })}`;
    case "stateEdited":
      return objectOf(event.object.service, event.object.key, event.object.scope);
    case "promiseCompleted":
      return event.promise.run;
    case "signaled":
      return event.signal.target;
    default:
      return event.id;
  }
}
