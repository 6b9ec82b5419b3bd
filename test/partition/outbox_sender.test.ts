import fc from "fast-check";
import { expect, test } from "vitest";
import { type Fate, OutboxWorld } from "./_outbox.ts";

const FATES: readonly Fate[] = ["taken", "unheard", "silent", "refused", "part", "gap"];

interface Scene {
  readonly loadMs: number;
  readonly carryMs: number;
  /** Messages of an earlier life for each destination. */
  readonly left: readonly number[];
  /** Messages written while it runs: time and destination. */
  readonly later: readonly (readonly [number, number])[];
  /** The outcomes of the first batches. */
  readonly fates: readonly Fate[];
  /** When the life ends and another one begins. */
  readonly restarts: readonly number[];
}

const scenes: fc.Arbitrary<Scene> = fc.record({
  loadMs: fc.constantFrom(0, 3, 60),
  carryMs: fc.constantFrom(0, 3, 60),
  left: fc.array(fc.oneof(fc.nat(3), fc.constantFrom(63, 64, 65, 200)), { maxLength: 3 }),
  later: fc.array(fc.tuple(fc.nat(400), fc.integer({ min: 1, max: 3 })), {
    maxLength: 30,
    size: "max",
  }),
  fates: fc.array(fc.constantFrom(...FATES), { maxLength: 12, size: "max" }),
  restarts: fc.array(fc.nat(500), { maxLength: 2 }),
});

test("every message is applied once and in order, whatever batches are lost", async () => {
  await fc.assert(
    fc.asyncProperty(scenes, async ({ left, later, fates, restarts, ...ms }) => {
      const fate = fates[Symbol.iterator]();
      const scene = new OutboxWorld({ ...ms, fate: () => fate.next().value ?? "taken" });
      const { world } = scene;
      left.forEach((count, i) => {
        for (let n = 0; n < count; n++) scene.write(i + 1);
      });
      for (const [at, to] of later) world.after(at, () => scene.post(to));
      for (const at of restarts) world.after(at, () => scene.restart());
      void scene.sender.open();
      const end = world.mono + 1_000;
      const isOver = await scene.run(() => world.mono > end && scene.isDone || world.mono > 1e8);
      expect(scene.failures).toEqual([]);
      expect(isOver || scene.isDone).toBe(true);
      expect(scene.sender.waiting).toBe(0);
    }),
    { numRuns: 300 },
  );
});

test("messages of an earlier life are sent first, though later ones are added before they are read", async () => {
  const scene = new OutboxWorld({ loadMs: 50, carryMs: 1 });
  for (let n = 0; n < 3; n++) scene.write(1);
  // The partition already runs while its timers are read; only then it reads messages.
  scene.post(1);
  await scene.run(() => false, 100);
  expect(scene.batches).toEqual([]);
  void scene.sender.open();
  expect(await scene.run(() => scene.isDone)).toBe(true);
  expect(scene.failures).toEqual([]);
});

test("messages beyond the limit of memory are sent, too, without a new one as a trigger", async () => {
  const scene = new OutboxWorld({ loadMs: 1, carryMs: 1 });
  for (let n = 0; n < 1_500; n++) scene.write(1);
  scene.write(2);
  void scene.sender.open();
  let most = 0;
  const done = () => (most = Math.max(most, scene.sender.waiting), scene.isDone);
  expect(await scene.run(done)).toBe(true);
  expect(scene.failures).toEqual([]);
  expect(most).toBeLessThanOrEqual(1_001);
  expect(Math.max(...scene.batches.map(({ size }) => size))).toBeLessThanOrEqual(200);
});

test("an unreachable destination holds up neither memory nor others", async () => {
  let isAway = true;
  const fate = (to: number): Fate => to === 1 && isAway ? "refused" : "taken";
  const scene = new OutboxWorld({ loadMs: 1, carryMs: 1, fate });
  await Promise.all([scene.run(() => false, 100), scene.sender.open()]);
  for (let n = 0; n < 3_000; n++) scene.post(1);
  for (let n = 0; n < 300; n++) scene.post(2);
  await scene.run(() => scene.applied.get(2)?.length === 300, 60_000);
  expect(scene.applied.get(2)).toHaveLength(300);
  await scene.run(() => false, 60_000);
  expect(scene.sender.waiting).toBe(1_000);
  // Retries become rarer, and one line is logged.
  const asked = scene.batches.filter(({ to }) => to === 1).length;
  expect(asked).toBeGreaterThan(20);
  expect(asked).toBeLessThan(60);
  expect(scene.warnings).toEqual(["Messages for another partition wait 1"]);
  isAway = false;
  expect(await scene.run(() => scene.isDone)).toBe(true);
  expect(scene.failures).toEqual([]);
});

test("large messages are sent in small batches, and memory holds no more than fit", async () => {
  const scene = new OutboxWorld({ loadMs: 1, carryMs: 1 });
  const value = new Uint8Array(600_000);
  for (let n = 0; n < 40; n++) scene.write(1, value);
  scene.write(1, new Uint8Array(3_000_000));
  void scene.sender.open();
  let most = 0;
  const done = () => (most = Math.max(most, scene.sender.waiting), scene.isDone);
  expect(await scene.run(done)).toBe(true);
  // Eight megabytes, and the one that exceeded them.
  expect(most).toBeLessThanOrEqual(14);
  expect(Math.max(...scene.batches.map(({ size }) => size))).toBe(1);
});

test("a receiver that lacks earlier messages is retried rarely, and it is logged", async () => {
  const scene = new OutboxWorld({ loadMs: 1, carryMs: 1, fate: () => "gap" });
  await Promise.all([scene.run(() => false, 100), scene.sender.open()]);
  scene.post(1);
  await scene.run(() => false, 60_000);
  expect(scene.batches.length).toBeLessThan(60);
  expect(scene.warnings).toEqual(["Messages for another partition wait 1"]);
});

test("no message is sent, read or acknowledged after the end", async () => {
  const scene = new OutboxWorld({ loadMs: 1, carryMs: 5 });
  await Promise.all([scene.run(() => false, 100), scene.sender.open()]);
  scene.post(1);
  await scene.run(() => false, 7);
  scene.sender.stop();
  scene.post(1);
  const { batches: { length }, loads } = scene;
  await scene.run(() => false, 10_000);
  expect(scene.batches).toHaveLength(length);
  expect(scene.loads).toBe(loads);
  expect(scene.rows.size).toBe(2);
  expect(scene.failures).toEqual([]);
});

test("a store that does not answer ends the life", async () => {
  const scene = new OutboxWorld({ loadMs: 1, carryMs: 1 });
  await Promise.all([scene.run(() => false, 100), scene.sender.open()]);
  for (let n = 0; n < 1_100; n++) scene.post(1);
  scene.loadFails = true;
  await scene.run(() => scene.failures.length > 0);
  expect(String(scene.failures)).toContain("no store");
});
