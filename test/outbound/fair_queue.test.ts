import fc from "fast-check";
import { expect, test } from "vitest";
import { FairQueue } from "../../src/outbound/fair_queue.ts";

const AGING_MS = 1000;
const USUAL = 8;

test("wait queues are served in rotation", () => {
  const queue = new FairQueue({ agingMs: AGING_MS });
  const [busy, rare] = [{ lane: USUAL, queue: "busy" }, { lane: USUAL, queue: "rare" }];
  for (let i = 0; i < 3000; i++) queue.add(busy, { id: `busy${i}`, attempt: 1 }, 0);
  queue.add(rare, { id: "rare0", attempt: 1 }, 0);
  queue.add(rare, { id: "rare1", attempt: 1 }, 0);
  queue.add(busy, { id: "busy0", attempt: 2 }, 0);
  queue.drop("busy1", 1);
  queue.drop("busy2", 0);
  const order = Array.from({ length: 5 }, () => queue.next(0)?.id);
  expect(order).toEqual(["busy2", "rare0", "busy3", "rare1", "busy4"]);
  let last;
  for (let next = queue.next(0); next; next = queue.next(0)) last = next;
  expect(last).toEqual({ id: "busy0", attempt: 2, since: 0 });
  expect(queue.size).toBe(0);
});

test("a higher lane goes first until a lower one has waited long enough", () => {
  const queue = new FairQueue({ agingMs: AGING_MS });
  const low = { lane: 0, queue: "a" }, high = { lane: 18, queue: "a" };
  queue.add(low, { id: "low", attempt: 1 }, 0);
  for (let i = 0; i < 3; i++) queue.add(high, { id: `high${i}`, attempt: 1 }, 0);
  expect(queue.next(0)?.id).toBe("high0");
  expect(queue.next(8_999)?.id).toBe("high1");
  expect(queue.next(18_000)?.id).toBe("high2");
  queue.add(high, { id: "high3", attempt: 1 }, 18_000);
  expect(queue.next(18_000)?.id).toBe("low");
  expect(queue.next(18_000)?.id).toBe("high3");
});

test("an attempt that was dropped, moved or is old leaves nothing behind", () => {
  const queue = new FairQueue({ agingMs: AGING_MS });
  const a = { lane: USUAL, queue: "a" };
  queue.add(a, { id: "x", attempt: 1 }, 0);
  queue.drop("x", 1);
  expect(queue.attemptOf("x")).toBeUndefined();
  expect(queue.next(0)).toBeUndefined();
  queue.add(a, { id: "x", attempt: 2 }, 0);
  queue.add({ lane: 2, queue: "b" }, { id: "x", attempt: 3 }, 0);
  queue.add(a, { id: "x", attempt: 1 }, 0);
  expect(queue.attemptOf("x")).toBe(3);
  expect(queue.next(0)).toEqual({ id: "x", attempt: 3, since: 0 });
  expect(queue.next(0)).toBeUndefined();
  queue.add(a, { id: "y", attempt: 1 }, 0);
  queue.clear();
  expect([queue.size, queue.next(0)]).toEqual([0, undefined]);
});

const ids = fc.constantFrom("p", "q", "r", "s", "t");
const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        add: ids,
        lane: fc.constantFrom(0, 8, 18),
        queue: fc.constantFrom("a", "b"),
      }),
    },
    fc.record({ drop: ids, back: fc.nat(2) }),
    fc.constant({ next: true }),
  ),
  { maxLength: 60, size: "max" },
);

test("it serves each invocation's newest attempt once, unless it was dropped", () => {
  fc.assert(fc.property(steps, (steps) => {
    const queue = new FairQueue({ agingMs: AGING_MS });
    const waiting = new Map<string, number>();
    let now = 0;
    const served = () => {
      const next = queue.next(now);
      expect(next === undefined).toBe(waiting.size === 0);
      if (!next) return;
      expect(next.attempt).toBe(waiting.get(next.id));
      waiting.delete(next.id);
    };
    for (const step of steps) {
      now += 100;
      if ("add" in step) {
        queue.add(step, { id: step.add, attempt: now }, now);
        waiting.set(step.add, now);
      } else if ("drop" in step) {
        const attempt = now - 100 * step.back;
        queue.drop(step.drop, attempt);
        if ((waiting.get(step.drop) ?? Infinity) <= attempt) waiting.delete(step.drop);
      } else {
        served();
      }
      expect(queue.size).toBe(waiting.size);
    }
    while (waiting.size > 0) served();
    served();
  }));
});
