import fc from "fast-check";
import { expect, test } from "vitest";
import type { Limits } from "../../../src/model/limits.ts";
import { partitionOfCounter } from "../../../src/model/ring.ts";
import type { GivenControls } from "../../support/controls.ts";
import { Places } from "./_shared.ts";

const greeter = (limits: Limits, hi?: Limits): GivenControls => ({
  services: { greeter: { limits, ...hi && { handlers: { hi } } } },
});
/** When the clock of `Places` begins. */
const BEGIN = 1_000_000;
const COUNTER = "service:greeter";
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

function callsIn(places: Places, partition: number, count: number): void {
  for (let i = 0; i < count; i++) places.call(partition);
}

test("partitions never run more than the limit together, and idle slots move", () => {
  const places = new Places(4, greeter({ concurrency: 3 }));
  callsIn(places, 0, 10);
  places.settle();
  expect(places.ids("invoked")).toHaveLength(3);
  expect(sum(places.shares(COUNTER))).toBe(3);
  expect(places.shares(COUNTER)[0]).toBe(3);
  for (const id of places.ids("queued")) places.kill(id);
  for (const id of places.ids("invoked")) places.end(id);
  places.settle();
  // All are idle in partition 0, and needed in another one.
  callsIn(places, 2, 3);
  places.settle();
  expect(places.ids("invoked")).toHaveLength(3);
  expect(places.shares(COUNTER)[2]).toBe(3);
});

test("partitions take turns while something waits in each", () => {
  const places = new Places(3, greeter({ concurrency: 1 }));
  for (const partition of [0, 1, 2]) callsIn(places, partition, 5);
  const served: number[] = [];
  for (let i = 0; i < 15; i++) {
    places.settle();
    const [id = "", ...others] = places.ids("invoked");
    expect(others).toEqual([]);
    served.push(places.shares(COUNTER).indexOf(1));
    places.end(id);
  }
  places.settle();
  expect(places.ids("queued")).toEqual([]);
  for (let i = 0; i < 15; i += 3) expect(new Set(served.slice(i, i + 3)).size).toBe(3);
});

test("a slot stays where it is while no other partition waits", () => {
  const places = new Places(2, greeter({ concurrency: 2 }));
  callsIn(places, 0, 40);
  for (let i = 0; i < 20; i++) {
    places.settle();
    for (const id of places.ids("invoked")) places.end(id);
  }
  places.settle();
  expect(places.ids("queued")).toEqual([]);
  expect(sum([...places.sent.values()])).toBeLessThan(12);
});

test("a raised limit is felt at once, a lowered one as slots are given back", () => {
  const places = new Places(3, greeter({ concurrency: 2 }));
  for (const partition of [0, 1, 2]) callsIn(places, partition, 5);
  places.settle();
  expect(places.ids("invoked")).toHaveLength(2);
  places.limit(greeter({ concurrency: 8 }));
  places.settle();
  expect(places.ids("invoked")).toHaveLength(8);
  places.limit(greeter({ concurrency: 1 }));
  for (let left = 7; left >= 1; left--) {
    places.end(places.ids("invoked")[0]!);
    places.settle();
    expect(places.ids("invoked")).toHaveLength(left);
  }
  expect(sum(places.shares(COUNTER))).toBe(1);
  places.limit({});
  places.settle();
  expect(places.ids("queued")).toEqual([]);
});

test("what runs when a limit is set takes slots of it", () => {
  const places = new Places(2, {});
  callsIn(places, 0, 4);
  places.settle();
  places.limit(greeter({ concurrency: 4 }));
  callsIn(places, 1, 2);
  places.settle();
  expect(sum(places.shares(COUNTER))).toBe(4);
  for (const id of places.ids("invoked")) places.end(id);
  places.settle();
  expect(places.ids("queued")).toEqual([]);
});

test("idle slots are given back after the owner of a partition died", () => {
  const places = new Places(2, greeter({ concurrency: 1 }));
  callsIn(places, 0, 1);
  places.settle();
  for (const id of places.ids("invoked")) places.end(id);
  places.settle();
  callsIn(places, 1, 1);
  // The recall is durable, and what follows from it is lost.
  for (let i = 0; i < 20; i++) {
    for (const partition of [0, 1]) {
      places.turn(partition);
      places.bring(partition, 1 - partition);
      places.boot(partition);
    }
  }
  places.settle();
  expect(places.ids("invoked")).toHaveLength(1);
});

test("a boot compares the bank of a counter with the share of its own partition", () => {
  const places = new Places(2, greeter({ concurrency: 4 }));
  const home = partitionOfCounter(COUNTER, 2), other = 1 - home;
  callsIn(places, home, 3);
  callsIn(places, other, 1);
  places.settle();
  expect(places.corrected).toEqual([]);
  for (const known of [1, 4]) {
    places.damage(home, "bank", { given: { [home]: known, [other]: 1 } });
    places.boot(home);
    places.settle();
    expect(places.corrected.splice(0)).toEqual([{ counter: COUNTER, given: known, slots: 3 }]);
    // No slot is given twice, and none is lost.
    callsIn(places, other, 2);
    places.settle();
    expect(places.ids("invoked")).toHaveLength(4);
    for (const id of places.ids("queued")) places.kill(id);
    places.settle();
  }
  for (const id of places.ids("invoked")) places.end(id);
  callsIn(places, other, 9);
  places.settle();
  expect(places.ids("invoked")).toHaveLength(4);
  expect(places.corrected).toEqual([]);
});

test("a rate is that of all partitions", () => {
  const rate = { count: 10, periodMs: 1000, burst: 5 };
  const places = new Places(4, greeter({ rate }));
  for (const partition of [0, 1, 2, 3]) callsIn(places, partition, 10);
  places.settle();
  expect(places.starts).toHaveLength(5);
  while (places.ids("queued").length > 0) {
    expect(places.pass()).toBe(true);
    places.settle();
  }
  mustKeep(places.starts, rate);
  // 35 tokens more, of 100 ms each.
  expect(places.now - BEGIN).toBeGreaterThanOrEqual(3_500);
  expect(places.now - BEGIN).toBeLessThanOrEqual(3_600);
});

test("waiting for tokens sends no messages", () => {
  const places = new Places(3, greeter({ concurrency: 1, rate: { count: 1, periodMs: 1e9 } }));
  for (const partition of [0, 1, 2]) callsIn(places, partition, 5);
  places.settle();
  for (const id of places.ids("invoked")) places.end(id);
  places.settle();
  expect(places.ids("queued")).toHaveLength(14);
  expect(sum([...places.sent.values()])).toBeLessThan(30);
});

function mustKeep(
  starts: readonly number[],
  { count, periodMs, burst = count }: NonNullable<Limits["rate"]>,
): void {
  for (let from = 0; from < starts.length; from++) {
    for (let to = from; to < starts.length; to++) {
      const allowed = burst + (starts[to]! - starts[from]!) * count / periodMs;
      expect(to - from + 1).toBeLessThanOrEqual(allowed + 1e-6);
    }
  }
}

/** A start may be used later than it was given, but each one was given. */
function mustComeFrom(
  starts: readonly number[],
  { count, periodMs, burst = count }: NonNullable<Limits["rate"]>,
): void {
  for (const [i, at] of starts.entries()) {
    expect(i + 1).toBeLessThanOrEqual(burst + (at - BEGIN) * count / periodMs + 1e-6);
  }
}

const limits = fc.record(
  {
    concurrency: fc.integer({ min: 1, max: 4 }),
    rate: fc.record({
      count: fc.integer({ min: 1, max: 5 }),
      periodMs: fc.constant(100),
      burst: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { requiredKeys: [] },
);

test("whatever comes late or dies, no limit is exceeded, and all that waits starts", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 4 }),
      fc.record({ service: limits, handler: fc.option(limits, { nil: undefined }) }),
      fc.array(fc.nat(), { minLength: 100, maxLength: 300 }),
      (partitions, { service, handler }, choices) => {
        const places = new Places(partitions, greeter(service, handler));
        const most = Math.min(service.concurrency ?? Infinity, handler?.concurrency ?? Infinity);
        for (const choice of choices) {
          happen(places, choice);
          expect(places.ids("invoked").length).toBeLessThanOrEqual(most);
          expect(sum(places.shares(COUNTER))).toBeLessThanOrEqual(service.concurrency ?? Infinity);
        }
        finish(places, most);
        for (const { rate } of [service, handler ?? {}]) {
          if (rate) mustComeFrom(places.starts, rate);
        }
      },
    ),
    { numRuns: 100 },
  );
});

test("limits that change while slots move, and clocks that are set back, lose no slot", () => {
  const limited = limits.map((one) => ({ concurrency: 2, ...one }));
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 4 }),
      fc.array(fc.record({ service: limited, handler: limited }), { minLength: 2, maxLength: 6 }),
      fc.boolean(),
      fc.array(fc.nat(), { minLength: 100, maxLength: 300 }),
      (partitions, given, isByHandler, choices) => {
        const all = given.map(({ service, handler }) =>
          greeter(service, isByHandler ? handler : undefined)
        );
        // A lower limit holds once partitions have heard of it.
        const most = Math.max(...given.map(({ service }) => service.concurrency));
        const places = new Places(partitions, all[0]!);
        let at = 0;
        for (const choice of choices) {
          if (choice % 17 === 0) {
            places.limit(all[at = choice % all.length]!);
          } else if (choice % 19 === 0) places.now -= 3_000;
          else happen(places, choice);
          expect(places.ids("invoked").length).toBeLessThanOrEqual(most);
          expect(places.missing()).toEqual({});
        }
        finish(places, most);
        expect(places.missing()).toEqual({});
        expect(sum(places.shares(COUNTER))).toBeLessThanOrEqual(given[at]!.service.concurrency);
        expect(places.corrected).toEqual([]);
      },
    ),
    // To shrink a failure takes minutes: each run plays all of it.
    { numRuns: 100, endOnFailure: true },
  );
});

/** One of the things that may happen. */
function happen(places: Places, choice: number): void {
  const { length } = places.places;
  const partition = choice % length, other = Math.floor(choice / length) % length;
  const running = places.ids("invoked"), waiting = places.ids("queued");
  switch (Math.floor(choice / length / length) % 12) {
    case 0:
    case 1:
    case 2:
      return void places.call(partition);
    case 3:
      return void places.boot(partition);
    case 4:
      return void places.pass();
    case 5:
      if (running.length > 0) places.end(running[choice % running.length]!);
      return;
    case 6:
      if (waiting.length > 0) places.kill(waiting[choice % waiting.length]!);
      return;
    case 7:
      return void places.bring(partition, other, { isHeard: choice % 2 === 0 });
    default:
      return void places.turn(partition, 1 + choice % 3);
  }
}

/** All goes well from now on, so everything ends. */
function finish(places: Places, most: number): void {
  for (let i = 0; i < 5_000; i++) {
    places.settle();
    const running = places.ids("invoked");
    expect(running.length).toBeLessThanOrEqual(most);
    if (running.length === 0 && places.ids("queued").length === 0) return;
    for (const id of running) places.end(id);
    if (running.length === 0) expect(places.pass()).toBe(true);
  }
  expect(places.ids("queued")).toEqual([]);
}
