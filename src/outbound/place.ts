import type { Attempt } from "../engine/effect.ts";
import { laneOf, PRIORITY_DEFAULT } from "../model/queue.ts";
import type { Place } from "./fair_queue.ts";

/**
 * Where an attempt waits for a slot: in the lane of its priority, and there in a queue. Handlers do
 * not wait behind each other, and neither the calls that running handlers make nor invocations that
 * have run before wait behind new ones, nor do records of one subscription behind those of another.
 * That they share a lane and take turns keeps a service whose invocations are always being resumed
 * from holding up all others.
 */
export function placeOf({ invocation: { target, origin, priority }, attempt }: Attempt): Place {
  const age = attempt > 1 ? "resumed" : "new";
  const from = origin.by === "subscription" ? origin.id : origin.by;
  return {
    lane: laneOf(priority ?? PRIORITY_DEFAULT, false),
    queue: `${target.service}/${target.handler}/${from}/${age}`,
  };
}
