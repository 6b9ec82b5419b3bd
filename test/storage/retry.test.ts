import { expect, test } from "vitest";
import type { SqlClient } from "../../src/ports.ts";
import { withRetries } from "../../src/storage/retry.ts";
import { World } from "../sim/world.ts";

const lost = new Error("lost"), final = new Error("final");
const client: SqlClient = {
  batch: () => Promise.reject(lost),
  isRefused: () => false,
  isLost: (cause) => cause === lost,
  close: () => Promise.resolve(),
};

/** Retries a request in virtual time that first fails with `failures`. `tries`: when each was made. */
async function play(failures: readonly Error[], retryMs: number, isOver?: () => boolean) {
  const world = new World(1), start = world.mono;
  const tries: number[] = [], left = [...failures];
  const clock = {
    now: () => world.mono,
    at: (due: number, call: () => void) => world.after(due - world.mono, call),
    soon: (call: () => void) => void world.after(0, call),
  };
  let end: unknown;
  const act = () => {
    tries.push(world.mono - start);
    const failure = left.shift();
    return failure ? Promise.reject(failure) : Promise.resolve("done");
  };
  withRetries(client, act, { clock, retryMs, ...(isOver && { isOver }) })
    .then((value) => end = value, (cause) => end = cause);
  await world.run(() => end !== undefined, { alarmsMax: 1_000, until: start + 600_000 });
  return { end, tries };
}

const many = (count: number) => Array.from({ length: count }, () => lost);

test("a lost request is retried in ever longer intervals, up to a second", async () => {
  const { end, tries } = await play(many(9), 60_000);
  expect(end).toBe("done");
  const pauses = tries.slice(1).map((at, i) => at - tries[i]!);
  expect(pauses).toEqual([20, 40, 80, 160, 320, 640, 1_000, 1_000, 1_000]);
});

test("a request that stays lost fails when the time is over, with the last cause", async () => {
  const { end, tries } = await play(many(1_000), 5_000);
  expect(end).toBe(lost);
  expect(tries.at(-1)).toBeGreaterThanOrEqual(5_000);
  expect(tries.at(-1)).toBeLessThan(7_000);
});

test("a request that is refused for good is not retried", async () => {
  expect(await play([final], 60_000)).toEqual({ end: final, tries: [0] });
});

test("no request is retried once no caller waits", async () => {
  let asked = 0;
  const { end, tries } = await play(many(1_000), 60_000, () => ++asked > 4);
  expect(end).toBe(lost);
  expect(tries.length).toBeLessThan(5);
});
