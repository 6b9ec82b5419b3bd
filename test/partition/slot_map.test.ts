import fc from "fast-check";
import { expect, test } from "vitest";
import { SlotMap } from "../../src/slot_map.ts";

const KEYS = ["a", "b", "c"] as const;
const steps = fc.array(
  fc.oneof(
    fc.record({ set: fc.constantFrom(...KEYS), value: fc.integer() }),
    fc.record({ drop: fc.constantFrom(...KEYS) }),
    fc.constant({ clear: true }),
  ),
);

test("it has the entries of a map, in insertion order", () => {
  fc.assert(fc.property(steps, (steps) => {
    const map = new Map<string, number>(), slots = new SlotMap<string, number>();
    for (const step of steps) {
      if ("set" in step) {
        map.set(step.set, step.value);
        slots.set(step.set, step.value);
      } else if ("drop" in step) {
        expect(slots.delete(step.drop)).toBe(map.delete(step.drop));
      } else {
        map.clear();
        slots.clear();
      }
      expect([...slots.values()]).toEqual([...map.values()]);
      expect(KEYS.map((key) => slots.get(key))).toEqual(KEYS.map((key) => map.get(key)));
      expect(slots.size).toBe(map.size);
    }
  }));
});

test("entries may be deleted during iteration", () => {
  const slots = new SlotMap<number, number>();
  for (let i = 0; i < 10; i++) slots.set(i, i);
  const seen: number[] = [];
  for (const value of slots.values()) {
    seen.push(value);
    slots.delete(value);
    slots.delete(value + 1);
  }
  expect(seen).toEqual([0, 2, 4, 6, 8]);
  expect(slots.size).toBe(0);
});
