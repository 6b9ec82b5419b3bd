import { limitsOfCounter } from "../../../src/engine/flow/admission.ts";
import { holdsSlots } from "../../../src/model/invocation.ts";
import { shareOf } from "../../../src/model/rows.ts";
import { type Places, sum } from "./_shared.ts";

/**
 * How many more may run than a counter allows: by the slots that partitions have under its present limits
 * and those that are on their way to them. What ran when the limits were set may go on, so it counts as
 * allowed. All invocations must be of that counter. 0: all is right.
 */
export function beyond(places: Places, counter: string): number {
  const limits = limitsOfCounter(counter, places.controls);
  if (limits?.concurrency === undefined) return 0;
  const { concurrency, tightenedAt = 0 } = limits;
  const held = places.places.map((place) =>
    place.all("invocation").filter(({ status }) => holdsSlots(status)).length
  );
  const has = places.places.map((place, partition) => {
    const share = place.find("share", shareOf({ partition, counter }), "");
    const isCounted = (share?.since ?? 0) >= tightenedAt;
    return Math.max(held[partition]!, isCounted ? share?.slots ?? 0 : 0);
  });
  const given = places.underWay().map(({ message }) => {
    const isGift = message.type === "slotsGiven" && message.counter === counter;
    return isGift && (message.since ?? 0) >= tightenedAt ? message.slots : 0;
  });
  return Math.max(0, sum(has) + sum(given) - Math.max(concurrency, sum(held)));
}
