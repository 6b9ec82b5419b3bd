import { describe, expect, test } from "vitest";
import { invocationIdWith, newInvocationId, PLACES } from "../../src/model/id.ts";
import { partitionOfId, PARTITIONS_MAX, placeAt } from "../../src/model/ring.ts";

const GREETER = { service: "Greeter", handler: "greet", isWorkflowRun: false };
const SECOND_MS = 1_000;

/** The partition of an invocation that is drawn at a place. */
function partitionAt(place: number, partitions: number): number {
  return partitionOfId(invocationIdWith(new Uint8Array(16), {}, place), partitions);
}

/** Random bytes of which the last two are these. */
function chance(number: number): Uint8Array {
  const entropy = new Uint8Array(16);
  new DataView(entropy.buffer).setUint16(14, number);
  return entropy;
}

const numbers = (count: number): number[] => [...Array(count).keys()];

describe.each(numbers(PARTITIONS_MAX).map((one) => one + 1))("of %i partitions", (partitions) => {
  test("each is drawn as often as others, and all places take turns", () => {
    const drawn = new Set<number>();
    for (let second = 0; second < PLACES; second++) {
      const now = 1_700_000_000_000 + second * SECOND_MS;
      const places = numbers(partitions).map((one) => placeAt({ partitions }, chance(one), now));
      expect(places.map((one) => partitionAt(one, partitions))).toEqual(numbers(partitions));
      for (const place of places) drawn.add(place);
    }
    expect(drawn.size).toBe(PLACES);
  });

  test.each([2, 3])("each of %i threads draws in its own, and all are drawn", (threads) => {
    const drawn = new Set<number>();
    for (const thread of numbers(Math.min(threads, partitions))) {
      const here = numbers(partitions).filter((one) => one % threads === thread);
      for (const number of numbers(partitions)) {
        const place = placeAt({ partitions, here }, chance(number), 0);
        expect(here).toContain(partitionAt(place, partitions));
        drawn.add(place);
      }
    }
    expect(drawn.size).toBe(partitions);
  });
});

test("who serves no partition draws from all", () => {
  const places = numbers(4).map((one) => placeAt({ partitions: 4, here: [] }, chance(one), 0));
  expect(places.map((place) => partitionAt(place, 4))).toEqual([0, 1, 2, 3]);
});

test("ids that are drawn in the same second in one partition begin alike, and others do not", () => {
  const idAt = (number: number, now: number): string => {
    const place = placeAt({ partitions: 1 }, chance(number), now);
    return newInvocationId(GREETER, chance(number), now, place).id;
  };
  // "inv_1" and eleven digits of the partition key.
  const beginnings = (now: number) =>
    new Set(numbers(100).map((one) => idAt(one, now).slice(0, 16)));
  expect(beginnings(5_000)).toEqual(beginnings(5_999));
  expect(beginnings(5_000).size).toBe(1);
  expect(beginnings(6_000)).not.toEqual(beginnings(5_000));
});
