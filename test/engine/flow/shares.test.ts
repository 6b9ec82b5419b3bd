import { expect, test } from "vitest";
import type { Limits } from "../../../src/model/limits.ts";
import { partitionOfCounter, partitionOfId } from "../../../src/model/ring.ts";
import { BEGIN, COUNTER, greeter, HANDLER, Places, sum } from "./_shared.ts";

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

test("what becomes free under a lower limit goes back, also after an answer by the limit before", () => {
  const places = new Places(2, greeter({ concurrency: 4 }));
  const home = partitionOfCounter(COUNTER, 2), other = 1 - home;
  callsIn(places, home, 1);
  callsIn(places, other, 2);
  places.settle();
  // The home gives a slot for a third one, which is on its way when the limit is lowered.
  callsIn(places, other, 1);
  while (places.turn(other));
  places.bring(other, home);
  places.limit(greeter({ concurrency: 1 }));
  while (places.turn(other));
  places.bring(home, other);
  expect(places.shares(COUNTER)[other]).toBe(2);
  const running = places.ids("invoked");
  expect(running).toHaveLength(3);
  places.end(running.find((id) => partitionOfId(id, 2) === other)!);
  while (places.turn(other));
  expect(places.ids("invoked")).toHaveLength(2);
  expect(places.shares(COUNTER)[other]).toBe(1);
});

test("a home that has not heard of a lower limit gives nothing to those that have", () => {
  const places = new Places(2, greeter({ concurrency: 4 }));
  const home = partitionOfCounter(COUNTER, 2), other = 1 - home;
  callsIn(places, other, 1);
  places.settle();
  const { controls: before } = places;
  places.now++;
  places.limit(greeter({ concurrency: 1 }));
  const { controls: after } = places;
  callsIn(places, other, 2);
  while (places.turn(other));
  places.know(before);
  places.bring(other, home);
  while (places.turn(home));
  expect(places.underWay().filter(({ message }) => message.type === "slotsGiven")).toEqual([]);
  places.know(after);
  for (let left = 3; left > 0; left--) {
    places.settle();
    expect(places.ids("invoked")).toHaveLength(1);
    places.end(places.ids("invoked")[0]!);
  }
  places.settle();
  expect(places.ids("queued")).toEqual([]);
});

test("slots that are idle in several partitions are not used under a lower limit", () => {
  const places = new Places(3, greeter({ concurrency: 6 }));
  for (const partition of [0, 1, 2]) callsIn(places, partition, 2);
  places.settle();
  for (const id of places.ids("invoked")) places.end(id);
  places.settle();
  expect(places.shares(COUNTER)).toEqual([2, 2, 2]);
  places.limit(greeter({ concurrency: 2 }));
  for (const partition of [0, 1, 2]) callsIn(places, partition, 2);
  // No message has arrived yet.
  for (const partition of [0, 1, 2]) while (places.turn(partition));
  expect(places.ids("invoked").length).toBeLessThanOrEqual(2);
  places.settle();
  expect(places.ids("invoked")).toHaveLength(2);
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

test("the only slot of a handler goes to one that has run, not to one that waits for its start", () => {
  const rate = { count: 1, periodMs: 1000 };
  const places = new Places(2, greeter({ rate }, { concurrency: 1 }));
  const first = places.call(0);
  places.settle();
  places.suspend(first);
  const second = places.call(1);
  places.settle();
  // It has got the slot, and has no start.
  expect(places.shares(HANDLER)).toEqual([0, 1]);
  expect(places.ids("queued")).toEqual([second]);
  places.signal(first);
  places.settle();
  expect(places.ids("invoked")).toEqual([first]);
  // With its start, the second one gets the slot as it becomes free.
  expect(places.pass()).toBe(true);
  places.settle();
  expect(places.ids("queued")).toEqual([second]);
  places.end(first);
  places.settle();
  expect(places.ids("invoked")).toEqual([second]);
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
