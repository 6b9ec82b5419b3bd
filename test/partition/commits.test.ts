import fc from "fast-check";
import { expect, test } from "vitest";
import type { Effect } from "../../src/engine/effect.ts";
import { Turn } from "../../src/engine/turn.ts";
import type { Write } from "../../src/model/rows.ts";
import { Commits, QUIET_COMMIT_MS } from "../../src/partition/commits.ts";
import { World } from "../sim/world.ts";
import { schema } from "../support/schema.ts";

const NOWHERE = { find: () => null, list: () => [] };

interface Step {
  readonly afterMs: number;
  /** A turn that only asks for effects writes nothing. */
  readonly writes: boolean;
  /** The next turn is expected soon, whether or not it comes. */
  readonly isFollowed: boolean;
}

const scripts = fc.record({
  steps: fc.array(
    fc.record({
      afterMs: fc.constantFrom(0, 0, 1, 7),
      writes: fc.boolean(),
      isFollowed: fc.boolean(),
    }),
    { maxLength: 40 },
  ),
  commitMs: fc.array(fc.nat(20), { minLength: 1, maxLength: 10 }),
  /** Number of the commit that fails. */
  fails: fc.option(fc.integer({ min: 1, max: 6 })),
  stopsAt: fc.option(fc.nat(60)),
  batch: fc.constantFrom(1, 2, 100),
});

interface Heard {
  /** Numbers of turns, in the order of their effects. */
  readonly released: number[];
  readonly durable: number[];
  readonly settled: number[];
  readonly stored: number[];
  readonly failures: unknown[];
  inFlightMax: number;
  /** Numbers of turns whose effects were shown before their commit, and how many effects were released then. */
  readonly prepared: (readonly [turn: number, released: number])[];
  /** How many effects were released when it was stopped. */
  atStop?: number;
}

function turnOf(number: number, { writes }: Step): Turn {
  const turn = new Turn(0, schema, { rows: NOWHERE });
  if (writes) turn.put("inbox", { object: "o", seq: number, id: "i" });
  turn.emit({ type: "abort", id: "i", attempt: number });
  return turn;
}

interface Appended {
  readonly durable: () => void;
  readonly isFollowed: boolean;
}

function append(commits: Commits, { writes, effects }: Turn, options: Appended): void {
  commits.append(writes);
  commits.releaseWhenDurable(effects, [options.durable], options);
}

interface Script {
  readonly steps: readonly Step[];
  readonly commitMs: readonly number[];
  readonly fails: number | null;
  readonly stopsAt: number | null;
  readonly batch: number;
}

/** A store with delays, which may lose one commit. */
function storeOf(world: World, { commitMs, fails }: Script, heard: Heard) {
  let inFlight = 0, number = 0;
  return async (writes: readonly Write[]): Promise<void> => {
    heard.inFlightMax = Math.max(heard.inFlightMax, ++inFlight);
    const mine = ++number;
    await world.sleep(commitMs[mine % commitMs.length] ?? 0);
    inFlight--;
    if (mine === fails) throw new Error("lost");
    for (const { row } of writes) if ("seq" in row) heard.stored.push(row.seq);
  };
}

function attempts(effects: readonly Effect[]): number[] {
  return effects.flatMap((effect) => effect.type === "abort" ? [effect.attempt] : []);
}

function commitsOf(world: World, script: Script, heard: Heard): Commits {
  const commits: Commits = new Commits({
    commit: storeOf(world, script, heard),
    release: (effects) => heard.released.push(...attempts(effects)),
    prepare: (effects) => {
      for (const turn of attempts(effects)) heard.prepared.push([turn, heard.released.length]);
    },
    soon: (call) => world.after(0, call),
    later: (call) => world.after(QUIET_COMMIT_MS, call),
    releaseEffectsMax: script.batch,
    markDurable: (commit) => heard.settled.push(commit),
    forget: () => {},
    onFailure: (cause) => {
      heard.failures.push(cause);
      commits.stop();
    },
  });
  return commits;
}

async function play(script: Script): Promise<Heard> {
  const world = new World(1);
  const nothing = {
    released: [],
    durable: [],
    settled: [],
    stored: [],
    failures: [],
    prepared: [],
  };
  const heard: Heard = { ...nothing, inFlightMax: 0 };
  const commits = commitsOf(world, script, heard);
  if (script.stopsAt !== null) {
    world.after(script.stopsAt, () => {
      commits.stop();
      heard.atStop = heard.released.length;
    });
  }
  let at = 0;
  script.steps.forEach((step, i) => {
    at += step.afterMs;
    const { isFollowed } = step;
    const durable = () => void heard.durable.push(i);
    world.after(at, () => {
      append(commits, turnOf(i, step), { durable, isFollowed });
      if (isFollowed) world.after(0, () => commits.flush());
    });
  });
  await world.run(() => false, { alarmsMax: 10_000, until: world.mono + 60_000 });
  return heard;
}

test("one commit is in flight, and effects are released in order, each after its own", async () => {
  await fc.assert(
    fc.asyncProperty(scripts, async (script) => {
      const heard = await play({ ...script, fails: null, stopsAt: null });
      const all = script.steps.map((_, i) => i);
      expect(heard.released).toEqual(all);
      expect(heard.durable).toEqual(all);
      expect(heard.stored).toEqual(all.filter((i) => script.steps[i]?.writes));
      expect(heard.settled).toEqual(heard.settled.toSorted((a, b) => a - b));
      expect(heard.inFlightMax).toBeLessThanOrEqual(1);
      // Each effect of a commit with writes, in order, and no later than it is released.
      const turns = heard.prepared.map(([turn]) => turn);
      expect(turns).toEqual(turns.toSorted((a, b) => a - b));
      for (const i of heard.stored) expect(turns).toContain(i);
      expect(heard.prepared.every(([turn, released]) => released <= turn)).toBe(true);
    }),
    { numRuns: 200 },
  );
}, 60_000);

test("after a failed commit no effect is released, and the failure is reported once", async () => {
  await fc.assert(
    fc.asyncProperty(scripts, async (script) => {
      const { released, durable, stored, failures } = await play({ ...script, stopsAt: null });
      expect(released).toEqual(script.steps.map((_, i) => i).slice(0, released.length));
      // `durable` is called after the effects of all turns of a commit, which small batches may not reach.
      expect(durable).toEqual(released.slice(0, durable.length));
      if (script.batch === 100) expect(durable).toEqual(released);
      for (const i of released) if (script.steps[i]?.writes) expect(stored).toContain(i);
      expect(failures.length).toBeLessThanOrEqual(1);
      if (released.length < script.steps.length) expect(failures).toHaveLength(1);
    }),
    { numRuns: 200 },
  );
}, 60_000);

test("a stopped partition releases nothing more, whatever is in flight", async () => {
  await fc.assert(
    fc.asyncProperty(scripts, async (script) => {
      const { released, failures, atStop } = await play({ ...script, fails: null });
      if (atStop !== undefined) expect(released).toHaveLength(atStop);
      expect(failures).toEqual([]);
    }),
    { numRuns: 200 },
  );
}, 60_000);

/** A partition's commits by the clock of a world, each of 5 ms, and the numbers of rows in each. */
function quietCommits(world: World) {
  const sizes: number[] = [], at: number[] = [], began = world.mono;
  const commits = new Commits({
    commit: async (writes) => {
      sizes.push(writes.length);
      at.push(world.mono - began);
      await world.sleep(5);
    },
    release: () => {},
    soon: (call) => world.after(0, call),
    later: (call) => world.after(QUIET_COMMIT_MS, call),
    releaseEffectsMax: 100,
    markDurable: () => {},
    forget: () => {},
    onFailure: (cause) => expect.fail(String(cause)),
  });
  const turn = (number: number, effects: readonly Effect[] = []) => {
    commits.append(turnOf(number, { afterMs: 0, writes: true, isFollowed: false }).writes);
    commits.releaseWhenDurable(effects, []);
  };
  const run = () => world.run(() => false, { alarmsMax: 10_000, until: world.mono + 60_000 });
  return { commits, turn, run, sizes, at };
}

const EFFECT: Effect = { type: "abort", id: "i", attempt: 1 };

test("writes that nobody waits for are committed with those of the next turn that has effects", async () => {
  const world = new World(1);
  const { turn, run, sizes, at } = quietCommits(world);
  turn(0);
  turn(1);
  world.after(1, () => turn(2, [EFFECT]));
  // This commit is in flight, and does not end with another one.
  world.after(3, () => turn(3));
  await run();
  expect(sizes).toEqual([3, 1]);
  expect(at).toEqual([1, 6 + QUIET_COMMIT_MS]);
});

test("without company they are committed soon, and at once for a reader or when they are many", async () => {
  const world = new World(1);
  const { commits, turn, run, sizes, at } = quietCommits(world);
  turn(0);
  world.after(100, () => {
    turn(1);
    commits.whenHandedOver(() => expect(at).toHaveLength(2));
  });
  world.after(200, () => Array.from({ length: 1_002 }, (_, i) => turn(i)));
  await run();
  expect(sizes).toEqual([1, 1, 1_001, 1]);
  expect(at).toEqual([QUIET_COMMIT_MS, 100, 200, 205 + QUIET_COMMIT_MS]);
});

/** A commit by hand, whose effects begin something, and what happens in its course. */
function prepared(prepare: () => void) {
  const seen: string[] = [];
  const commits: Commits = new Commits({
    commit: () => {
      seen.push("commit");
      return Promise.resolve();
    },
    prepare: () => {
      seen.push("prepare");
      prepare();
    },
    release: () => seen.push("release"),
    soon: (call) => setImmediate(call),
    later: (call) => setImmediate(call),
    releaseEffectsMax: 100,
    markDurable: () => {},
    forget: () => {},
    onFailure: (cause) => {
      seen.push(String(cause));
      commits.stop();
    },
  });
  append(commits, turnOf(1, { afterMs: 0, writes: true, isFollowed: false }), {
    durable: () => {},
    isFollowed: false,
  });
  return seen;
}

const idle = () => new Promise((resolve) => setImmediate(resolve));

test("effects may begin before the store is handed their commit", async () => {
  const seen = prepared(() => {});
  await idle();
  expect(seen).toEqual(["prepare", "commit", "release"]);
});

test("what fails before a commit ends the partition, and nothing is committed", async () => {
  const seen = prepared(() => {
    throw new Error("broken");
  });
  await idle();
  expect(seen).toEqual(["prepare", "Error: broken"]);
});
