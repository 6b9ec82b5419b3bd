import { describe, expect, test } from "vitest";
import { newInvocationId, PLACES } from "../../src/model/id.ts";
import { partitionOfId, PARTITIONS_MAX, placesIn } from "../../src/model/ring.ts";

const GREETER = { service: "Greeter", handler: "greet", isWorkflowRun: false };

/** The partition of an invocation that is drawn at a place. */
function partitionAt(place: number, partitions: number): number {
  const entropy = new Uint8Array(16);
  entropy[15] = place;
  return partitionOfId(newInvocationId(GREETER, entropy, 0).id, partitions);
}

describe.each([2, 3, 4, 7, 63, PARTITIONS_MAX])("of %i partitions", (partitions) => {
  test.each([2, 3])("each of %i threads draws ids in its own, and all are drawn", (threads) => {
    const drawn = new Set<number>();
    for (let thread = 0; thread < threads; thread++) {
      const here = [...Array(partitions).keys()].filter((one) => one % threads === thread);
      if (here.length === 0) continue;
      for (const place of placesIn(here, partitions) ?? []) {
        expect(here).toContain(partitionAt(place, partitions));
        drawn.add(place);
      }
    }
    expect(drawn.size).toBe(PLACES);
  });
});

test("who serves all partitions draws from all places", () => {
  expect(placesIn([0, 1], 2)).toBeUndefined();
});
