import fc from "fast-check";
import { expect, test } from "vitest";
import type { Timer } from "../../src/model/rows.ts";
import { order, Timers } from "../../src/partition/timers.ts";
import { World } from "../sim/world.ts";

interface Scene {
  readonly timersMax: number;
  readonly firedMax: number;
  /** How long it takes until a timer that has fired is handled. */
  readonly handleMs: number;
  /** How long a page takes, each way. */
  readonly loadMs: number;
  readonly atBoot: readonly number[];
  /** Timers written while it runs: when, and how much later each is due. */
  readonly later: readonly (readonly [number, number])[];
}

const scenes = fc.record({
  timersMax: fc.constantFrom(1, 2, 3),
  firedMax: fc.constantFrom(1, 2, 100),
  handleMs: fc.constantFrom(0, 2, 30),
  loadMs: fc.constantFrom(0, 3, 60),
  atBoot: fc.array(fc.oneof(fc.nat(400), fc.integer({ min: 900, max: 1_500 })), {
    maxLength: 6,
    size: "max",
  }),
  // Many are added while the first page is being loaded.
  later: fc.array(
    fc.tuple(
      fc.oneof(fc.nat(300), fc.integer({ min: 60, max: 119 })),
      fc.integer({ min: 1, max: 300 }),
    ),
    { maxLength: 24, size: "max" },
  ),
});

/** No timer waits until others are handled. */
const UNBOUND = { firedMax: 1_000, handleMs: 0 };

interface Fired {
  readonly timer: Timer;
  readonly lateMs: number;
}

/** A store with delays: the rows of a page are fixed half way. */
function loader(world: World, rows: ReadonlyMap<string, Timer>, loadMs: number) {
  return async (after: Timer | undefined, limit: number): Promise<Timer[]> => {
    await world.sleep(loadMs);
    const page = [...rows.values()].filter((one) => !after || order(one, after) > 0).sort(order);
    const answer = page.slice(0, limit);
    await world.sleep(loadMs);
    return answer;
  };
}

/** Plays a scene and returns when each timer fired, in order, without repeats. */
async function play({ timersMax, firedMax, handleMs, loadMs, atBoot, later }: Scene) {
  const world = new World(1), start = world.mono;
  const rows = new Map<string, Timer>();
  const fired: Fired[] = [], failures: unknown[] = [];
  const write = (index: number, due: number): Timer => {
    const timer: Timer = { id: `t${index}`, due, kind: "sleep", index };
    rows.set(timer.id, timer);
    return timer;
  };
  let unhandled = 0, unhandledMost = 0;
  const timers = new Timers({
    timersMax,
    firedMax,
    clock: {
      now: () => world.mono,
      at: (due, call) => world.after(due - world.mono, call),
      soon: (call) => void world.after(0, call),
    },
    load: loader(world, rows, loadMs),
    fire: (timer) => {
      unhandledMost = Math.max(unhandledMost, ++unhandled);
      world.after(handleMs, () => {
        unhandled--;
        timers.handled();
      });
      if (rows.delete(timer.id)) fired.push({ timer, lateMs: world.mono - timer.due });
    },
    onFailure: (cause) => failures.push(cause),
  });
  atBoot.forEach((due, i) => write(i, start + due));
  later.forEach(([at, ms], i) =>
    world.after(at, () => timers.add(write(100 + i, start + at + ms)))
  );
  void timers.open();
  const done = () => fired.length === atBoot.length + later.length;
  await world.run(done, { alarmsMax: 10_000, until: start + 60_000 });
  return { fired, failures, left: rows.size, unhandledMost };
}

test("every timer fires once, none early, across any number of refills", async () => {
  await fc.assert(
    fc.asyncProperty(scenes, async (scene) => {
      const { fired, failures, left, unhandledMost } = await play(scene);
      expect(unhandledMost).toBeLessThanOrEqual(scene.firedMax);
      expect(failures).toEqual([]);
      expect(left).toBe(0);
      expect(fired.every(({ lateMs }) => lateMs >= 0)).toBe(true);
    }),
    { numRuns: 300 },
  );
}, 60_000);

test("a timer is late by no more than the pages read before it", async () => {
  await fc.assert(
    fc.asyncProperty(scenes, async (scene) => {
      const { fired } = await play({ ...scene, ...UNBOUND });
      const pages = 1 + fired.length / scene.timersMax;
      const most = 2 * scene.loadMs * pages + 1;
      for (const { timer, lateMs } of fired) expect(lateMs, timer.id).toBeLessThanOrEqual(most);
    }),
    { numRuns: 300 },
  );
}, 60_000);

test("with an instant store timers fire in order, each at its moment", async () => {
  await fc.assert(
    fc.asyncProperty(scenes, async (scene) => {
      const { fired } = await play({ ...scene, ...UNBOUND, loadMs: 0 });
      const dues = fired.map(({ timer }) => timer.due);
      expect(dues).toEqual(dues.toSorted((a, b) => a - b));
      expect(fired.every(({ lateMs }) => lateMs === 0)).toBe(true);
    }),
    { numRuns: 300 },
  );
}, 60_000);

test("a clock that jumps forward is noticed within 5 s, and costs a check every few seconds", async () => {
  const world = new World(1), start = world.mono;
  let checks = 0;
  const firedAt: number[] = [];
  const timers = new Timers({
    timersMax: 10,
    clock: {
      now: () => world.wall,
      // As a timeout, which does not notice that the clock was set.
      at: (due, call) => {
        checks++;
        return world.after(due - world.wall, call);
      },
      soon: (call) => void world.after(0, call),
    },
    load: () => Promise.resolve([]),
    fire: () => firedAt.push(world.mono - start),
    onFailure: (cause) => expect.unreachable(String(cause)),
  });
  await timers.open();
  expect(checks).toBe(0);
  timers.add({ id: "late", due: world.wall + 3_600_000, kind: "sleep", index: 1 });
  await world.run(() => false, { alarmsMax: 1_000, until: start + 61_000 });
  expect(checks).toBeLessThanOrEqual(20);
  world.skip(7_200_000);
  const jumpedAt = world.mono - start;
  await world.run(() => firedAt.length > 0, { alarmsMax: 1_000, until: world.mono + 60_000 });
  expect((firedAt[0] ?? Infinity) - jumpedAt).toBeLessThanOrEqual(5_000);
});
