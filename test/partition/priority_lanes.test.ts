import fc from "fast-check";
import { expect, test } from "vitest";
import { laneOf } from "../../src/model/queue.ts";
import { PriorityLanes } from "../../src/priority_lanes.ts";

const LANES = 20;
const AGING_MS = 1000;

const laneNumbers = fc.integer({ min: 0, max: LANES - 1 });

/** The rule as it reads, in no hurry. Its clock is never set back. */
class Naive {
  readonly items: { readonly lane: number; readonly item: number }[] = [];
  readonly since = new Map<number, number>();

  add(lane: number, item: number, now: number): void {
    if (!this.items.some((one) => one.lane === lane)) this.since.set(lane, now);
    this.items.push({ lane, item });
  }

  next(now: number, isEligible: (lane: number) => boolean = () => true) {
    const score = (lane: number) => lane / 2 * AGING_MS + now - (this.since.get(lane) ?? now);
    const [first] = this.items.filter(({ lane }) => isEligible(lane))
      .sort((a, b) => score(b.lane) - score(a.lane) || b.lane - a.lane);
    if (!first) return undefined;
    this.items.splice(this.items.indexOf(first), 1);
    this.since.set(first.lane, now);
    return first;
  }

  delete(item: number): boolean {
    const at = this.items.findIndex((one) => one.item === item);
    if (at >= 0) this.items.splice(at, 1);
    return at >= 0;
  }

  of(lane: number): number[] {
    return this.items.filter((one) => one.lane === lane).map(({ item }) => item);
  }
}

const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ add: laneNumbers, times: fc.integer({ min: 1, max: 30 }) }),
    },
    { weight: 4, arbitrary: fc.record({ next: fc.integer({ min: 1, max: 30 }) }) },
    { weight: 2, arbitrary: fc.record({ nextOf: fc.array(laneNumbers) }) },
    { weight: 3, arbitrary: fc.record({ drop: fc.nat(), times: fc.integer({ min: 1, max: 20 }) }) },
    { weight: 3, arbitrary: fc.record({ pass: fc.integer({ min: 0, max: 6 * AGING_MS }) }) },
    { weight: 1, arbitrary: fc.constant({ clear: true }) },
  ),
  { maxLength: 60, size: "max" },
);

test("it does what the rule says, whatever comes, goes and is removed", () => {
  fc.assert(fc.property(steps, (steps) => {
    const lanes = new PriorityLanes<number>({ agingMs: AGING_MS });
    let naive = new Naive();
    let now = 1_000_000, added = 0;
    for (const step of steps) {
      if ("add" in step) {
        for (let i = 0; i < step.times; i++) {
          lanes.add(step.add, ++added, now);
          naive.add(step.add, added, now);
        }
      } else if ("next" in step) {
        for (let i = 0; i < step.next; i++) expect(lanes.next(now)).toEqual(naive.next(now));
      } else if ("nextOf" in step) {
        const isEligible = (lane: number) => step.nextOf.includes(lane);
        expect(lanes.next(now, isEligible)).toEqual(naive.next(now, isEligible));
      } else if ("drop" in step) {
        for (let i = 0; i < step.times; i++) {
          const item = (step.drop + i) % (added + 1);
          expect(lanes.delete(item)).toBe(naive.delete(item));
        }
      } else if ("pass" in step) {
        now += step.pass;
      } else {
        lanes.clear();
        naive = new Naive();
      }
      expect(lanes.size).toBe(naive.items.length);
      for (let lane = 0; lane < LANES; lane++) {
        const items = naive.of(lane);
        expect([...lanes.valuesOf(lane)]).toEqual(items);
        expect(lanes.sizeOf(lane)).toBe(items.length);
        expect(lanes.first(lane)).toBe(items[0]);
      }
      expect(naive.items.every(({ item }) => lanes.has(item))).toBe(true);
    }
  }));
});

test("a lane is first in, first out, however long it becomes", () => {
  fc.assert(fc.property(laneNumbers, fc.integer({ min: 1, max: 3000 }), (lane, count) => {
    const lanes = new PriorityLanes<number>({ agingMs: AGING_MS });
    for (let i = 0; i < count; i++) lanes.add(lane, i, i);
    for (let i = 0; i < count; i++) expect(lanes.next(count)).toEqual({ lane, item: i });
    expect(lanes.next(count)).toBeUndefined();
  }));
});

test("of lanes of the same age the higher one goes first", () => {
  fc.assert(fc.property(fc.shuffledSubarray([...Array(LANES).keys()]), (order) => {
    const lanes = new PriorityLanes<string>({ agingMs: AGING_MS });
    for (const lane of order) lanes.add(lane, `in ${lane}`, 5);
    const sorted = order.toSorted((a, b) => b - a);
    expect([...lanes]).toEqual(sorted.map((lane) => `in ${lane}`));
    for (const lane of sorted) {
      expect(lanes.peekLane(5)).toBe(lane);
      expect(lanes.next(5)).toEqual({ lane, item: `in ${lane}` });
    }
  }));
});

test("what has run before is worth half a level more", () => {
  const lanes = new PriorityLanes<string>({ agingMs: 1000 });
  lanes.add(laneOf(4, false), "new", 0);
  lanes.add(laneOf(4, true), "resumed", 499);
  expect(lanes.next(499)?.item).toBe("resumed");
  lanes.add(laneOf(4, true), "resumed", 501);
  expect(lanes.next(501)?.item).toBe("new");
});

/** Serves lanes that are never empty until `untilMs`, and answers each lane's longest wait. */
function longestWaits(services: readonly number[], untilMs: number): number[] {
  const lanes = new PriorityLanes<number>({ agingMs: AGING_MS });
  const served = Array<number>(LANES).fill(0), longest = Array<number>(LANES).fill(0);
  let now = 0, added = 0;
  for (let lane = 0; lane < LANES; lane++) {
    for (let i = 0; i < 3; i++) lanes.add(lane, added++, now);
  }
  for (let count = 0; now < untilMs; count++) {
    const lane = lanes.next(now)?.lane ?? -1;
    longest[lane] = Math.max(longest[lane] ?? 0, now - (served[lane] ?? 0));
    served[lane] = now;
    lanes.add(lane, added++, now);
    now += services[count % services.length] ?? 1;
  }
  return longest.map((wait, lane) => Math.max(wait, now - (served[lane] ?? 0)));
}

test("no lane waits longer than its distance from the top and one service of each other", () => {
  const services = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 20 });
  fc.assert(fc.property(services, (services) => {
    const others = (LANES - 1) * Math.max(...services);
    longestWaits(services, 60_000).forEach((wait, lane) => {
      expect(wait).toBeLessThanOrEqual((LANES - 1 - lane) / 2 * AGING_MS + others);
    });
  }));
});

test("while all lanes are busy a higher one is served more often", () => {
  const waits = longestWaits([10], 60_000);
  expect(waits.toSorted((a, b) => b - a)).toEqual(waits);
  expect(waits[0]).toBeGreaterThan(LANES / 2 * AGING_MS * 0.9);
});

test("waiting counts on a clock that was set back", () => {
  const lanes = new PriorityLanes<string>({ agingMs: 1000 });
  lanes.add(0, "low", 1_000_000);
  expect(lanes.peekLane(500_000)).toBe(0);
  lanes.add(18, "high", 509_000);
  expect(lanes.next(509_000)?.item).toBe("high");
  lanes.add(18, "high", 509_001);
  expect(lanes.next(509_001)?.item).toBe("low");
  lanes.add(0, "low", 100);
  expect(lanes.next(200)?.item).toBe("high");
});

test("lanes that are not eligible are skipped and keep their age", () => {
  const lanes = new PriorityLanes<string>({ agingMs: 1000 });
  lanes.add(2, "low", 0);
  lanes.add(4, "high", 0);
  expect(lanes.next(10, (lane) => lane !== 4)?.item).toBe("low");
  expect(lanes.next(10, () => false)).toBeUndefined();
  lanes.add(8, "higher", 3000);
  expect(lanes.next(3000)?.item).toBe("high");
});

test("an item waits once, in a lane that exists", () => {
  const lanes = new PriorityLanes<string>({ agingMs: 1 });
  lanes.add(3, "a", 0);
  expect(() => lanes.add(4, "a", 0)).toThrow("once");
  expect(() => lanes.add(20, "b", 0)).toThrow("from 0 to 19");
  expect(() => lanes.add(-1, "b", 0)).toThrow("from 0 to 19");
  expect(() => new PriorityLanes({ agingMs: 0 })).toThrow("at least");
});

test("removing most of a long lane costs as much for each item as adding it", () => {
  const lanes = new PriorityLanes<number>({ agingMs: 1 });
  const count = 200_000;
  for (let i = 0; i < count; i++) lanes.add(8, i, 0);
  for (let i = count - 2; i > 0; i--) lanes.delete(i);
  expect([...lanes]).toEqual([0, count - 1]);
  expect([lanes.next(0)?.item, lanes.next(0)?.item]).toEqual([0, count - 1]);
});
