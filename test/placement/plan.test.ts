import fc from "fast-check";
import { expect, test } from "vitest";
import { plan } from "../../src/placement/plan.ts";

const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e", "f"), { minLength: 1 });
/** The living members and the owners: some owners are dead, and some partitions have none. */
const worlds = names.chain((nodes) =>
  fc.record({
    nodes: fc.constant(nodes),
    owners: fc.array(fc.option(fc.constantFrom(...nodes, "dead", "gone"), { nil: undefined }), {
      maxLength: 40,
    }),
  })
);

type World = {
  readonly nodes: readonly string[];
  readonly owners: readonly (string | undefined)[];
};

/** The plans of all members for the same rows. */
function plans({ nodes, owners }: World) {
  return nodes.map((me) => ({ me, ...plan({ me, nodes, owners }) }));
}

function after({ nodes, owners }: World): World {
  const next = [...owners];
  for (const { me, claim, release } of plans({ nodes, owners })) {
    for (const partition of release) next[partition] = undefined;
    for (const partition of claim) next[partition] = me;
  }
  return { nodes, owners: next };
}

function counts({ nodes, owners }: World): number[] {
  return nodes.map((node) => owners.filter((owner) => owner === node).length);
}

test("after two rounds everything is owned, and evenly; then nothing moves", () => {
  fc.assert(fc.property(worlds, (world) => {
    const done = after(after(world));
    expect(done.owners.every((owner) => owner && done.nodes.includes(owner))).toBe(true);
    const held = counts(done);
    expect(Math.max(...held) - Math.min(...held)).toBeLessThanOrEqual(1);
    for (const { claim, release } of plans(done)) expect([...claim, ...release]).toEqual([]);
  }));
});

test("only partitions without a living owner are claimed, each by one; a process releases only its own", () => {
  fc.assert(fc.property(worlds, (world) => {
    const all = plans(world);
    const claimed = all.flatMap(({ claim }) => claim);
    expect(new Set(claimed).size).toBe(claimed.length);
    for (const partition of claimed) expect(world.nodes).not.toContain(world.owners[partition]);
    for (const { me, release } of all) {
      for (const partition of release) expect(world.owners[partition]).toBe(me);
    }
  }));
});

test("no more moves than needed: only partitions of processes that have too many", () => {
  fc.assert(fc.property(worlds, (world) => {
    const least = Math.floor(world.owners.length / world.nodes.length);
    let more = world.owners.length % world.nodes.length;
    const held = counts(world).sort((a, b) => b - a);
    const excess = held.map((count) => Math.max(0, count - least - (more-- > 0 ? 1 : 0)));
    const released = plans(world).flatMap(({ release }) => release);
    expect(released.length).toBe(excess.reduce((a, b) => a + b, 0));
  }));
});

test("the order in which processes are listed changes nothing", () => {
  fc.assert(fc.property(worlds, ({ nodes, owners }) => {
    for (const me of nodes) {
      expect(plan({ me, nodes: nodes.toReversed(), owners })).toEqual(plan({ me, nodes, owners }));
    }
  }));
});
