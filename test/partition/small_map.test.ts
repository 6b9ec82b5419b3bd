import fc from "fast-check";
import { expect, test } from "vitest";
import { SmallMap } from "../../src/small_map.ts";

const KEYS = ["a", "b", "c", "d", "e", "f", "g"] as const;
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ set: fc.constantFrom(...KEYS), value: fc.integer() }) },
    { weight: 3, arbitrary: fc.record({ drop: fc.constantFrom(...KEYS) }) },
    { weight: 1, arbitrary: fc.constant({ clear: true }) },
  ),
);

test("it is a map, in insertion order, with few entries and with many", () => {
  fc.assert(fc.property(steps, (steps) => {
    const map = new Map<string, number>(), small = new SmallMap<string, number>();
    for (const step of steps) {
      if ("set" in step) {
        map.set(step.set, step.value);
        small.set(step.set, step.value);
      } else if ("drop" in step) {
        map.delete(step.drop);
        small.delete(step.drop);
      } else {
        map.clear();
        small.clear();
      }
      expect([...small]).toEqual([...map]);
      expect([...small.values()]).toEqual([...map.values()]);
      expect(KEYS.map((key) => small.get(key))).toEqual(KEYS.map((key) => map.get(key)));
      expect(KEYS.map((key) => small.has(key))).toEqual(KEYS.map((key) => map.has(key)));
      expect(small.size).toBe(map.size);
    }
  }));
});
