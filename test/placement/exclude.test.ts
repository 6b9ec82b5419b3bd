import fc from "fast-check";
import { expect, test } from "vitest";
import { excluded } from "../../src/placement/exclude.ts";
import { plan } from "../../src/placement/plan.ts";

const NAMES = ["a", "b", "c", "d"];
const OWNERS = ["a", "b", "c", "d", "a", "b"];

/** Processes, of which some say that they cannot reach others. */
function world(unreached: Readonly<Record<string, readonly string[]>>, names = NAMES) {
  return names.map((id) => ({ id, address: `http://${id}`, unreached: unreached[id] ?? [] }));
}

const out = (unreached: Readonly<Record<string, readonly string[]>>, names = NAMES) =>
  [...excluded(world(unreached, names), OWNERS)].sort();

test("while all reach each other, none is excluded", () => {
  expect(out({})).toEqual([]);
  expect(out({ a: ["dead"], b: ["dead"] })).toEqual([]);
});

test("a process that no other reaches is excluded", () => {
  expect(out({ a: ["d"], b: ["d"], c: ["d"] })).toEqual(["d"]);
  expect(out({ a: ["b"] }, ["a", "b"])).toEqual(["b"]);
});

test("a process that reaches no other is excluded, not those that it reports", () => {
  expect(out({ d: ["a", "b", "c"] })).toEqual(["d"]);
});

test("of two that do not reach each other, the one with more partitions stays", () => {
  const two = world({ a: ["b"], b: ["a"] }, ["a", "b"]);
  expect([...excluded(two, ["b", "b", "a"])]).toEqual(["a"]);
  expect([...excluded(two, ["b", "a"])]).toEqual(["b"]);
});

const reports = fc.dictionary(
  fc.constantFrom(...NAMES),
  fc.uniqueArray(fc.constantFrom(...NAMES, "dead")),
);

test("those that stay reach each other, at least one stays, and the order of rows does not matter", () => {
  fc.assert(fc.property(reports, (unreached) => {
    const gone = excluded(world(unreached), OWNERS);
    const staying = NAMES.filter((name) => !gone.has(name));
    expect(staying.length).toBeGreaterThan(0);
    for (const one of staying) {
      for (const other of staying) {
        if (one !== other) expect(unreached[one] ?? []).not.toContain(other);
      }
    }
    expect(out(unreached, NAMES.toReversed())).toEqual([...gone].sort());
  }));
});

test("partitions of an excluded process are released first, and then claimed by the others, evenly", () => {
  fc.assert(fc.property(reports, (unreached) => {
    let owners: readonly (string | undefined)[] = OWNERS;
    const gone = excluded(world(unreached), owners);
    for (let round = 0; round < 3; round++) {
      const next = [...owners];
      for (const me of NAMES) {
        const { claim, release } = plan({ me, nodes: NAMES, owners, excluded: gone });
        for (const partition of release) next[partition] = undefined;
        for (const partition of claim) {
          expect(owners[partition]).toBeUndefined();
          expect(gone).not.toContain(me);
          next[partition] = me;
        }
      }
      owners = next;
    }
    const held = NAMES.filter((name) => !gone.has(name))
      .map((name) => owners.filter((owner) => owner === name).length);
    expect(held.reduce((a, b) => a + b, 0)).toBe(OWNERS.length);
    expect(Math.max(...held) - Math.min(...held)).toBeLessThanOrEqual(1);
  }));
});
