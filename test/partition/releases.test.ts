import { expect, test } from "vitest";
import type { Effect } from "../../src/engine/effect.ts";
import { Releases } from "../../src/partition/releases.ts";
import { attempt } from "../outbound/_attempts.ts";

const BATCH = 4;

/** Releases of a partition whose `soon` and store are driven by the test. */
function world() {
  const seen = {
    /** Lengths of batches. */
    batches: [] as number[],
    /** Numbers of effects, and names of groups whose `durable` was called. */
    heard: [] as (number | string)[],
    soons: [] as (() => void)[],
    failures: [] as unknown[],
    isHeld: true,
    confirm: () => Promise.resolve(),
  };
  let number = 0;
  const releases = new Releases({
    release: (effects) => {
      seen.batches.push(effects.length);
      seen.heard.push(...effects.flatMap((one) => one.type === "abort" ? [one.attempt] : []));
    },
    soon: (call) => seen.soons.push(call),
    effectsMax: BATCH,
    isHeld: () => seen.isHeld,
    confirm: () => seen.confirm(),
    onFailure: (cause) => seen.failures.push(cause),
  });
  const add = (count: number, name: string) => {
    const effects = Array.from({ length: count }, (): Effect => (
      { type: "abort", id: "i", attempt: ++number }
    ));
    releases.add(effects, [() => seen.heard.push(name)]);
  };
  /** Runs the calls of `soon`. */
  const pass = async () => {
    for (const call of seen.soons.splice(0)) call();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { ...{ seen, releases, add, pass } };
}

test("effects that fit a batch are released at once, and then `durable` is called", () => {
  const { seen, add } = world();
  add(BATCH, "a");
  add(0, "b");
  expect(seen.heard).toEqual([1, 2, 3, 4, "a", "b"]);
  expect(seen.soons).toEqual([]);
});

test("the backlog follows batch by batch, in order, and batches fill up with later effects", async () => {
  const { seen, add, pass } = world();
  add(6, "a");
  expect(seen.heard).toEqual([1, 2, 3, 4]);
  add(1, "b");
  add(3, "c");
  expect(seen.heard).toEqual([1, 2, 3, 4]);
  await pass();
  expect(seen.heard).toEqual([1, 2, 3, 4, 5, 6, "a", 7, "b", 8]);
  await pass();
  expect(seen.heard.slice(-3)).toEqual([9, 10, "c"]);
  expect(seen.soons).toEqual([]);
  add(1, "d");
  expect(seen.heard.slice(-2)).toEqual([11, "d"]);
});

test("a larger backlog has larger batches", async () => {
  const { seen, add, pass } = world();
  add(100_000, "a");
  while (seen.soons.length > 0) await pass();
  expect(seen.batches[0]).toBe(25_000);
  expect(seen.batches.length).toBeLessThan(50);
  expect(seen.heard).toHaveLength(100_001);
});

test("the lease is confirmed before the next batch if it may be lost", async () => {
  const { seen, add, pass } = world();
  let confirmed = () => {};
  seen.confirm = () => new Promise((resolve) => confirmed = resolve);
  add(6, "a");
  seen.isHeld = false;
  await pass();
  expect(seen.batches).toEqual([4]);
  confirmed();
  await pass();
  expect(seen.batches).toEqual([4, 2]);
});

test("when the lease is lost, the backlog is not released, and the failure is reported", async () => {
  const { seen, add, pass } = world();
  seen.confirm = () => Promise.reject(new Error("fenced"));
  add(6, "a");
  seen.isHeld = false;
  await pass();
  expect(seen.batches).toEqual([4]);
  expect(String(seen.failures)).toBe("Error: fenced");
});

test("after the end no effect is released", async () => {
  const { seen, releases, add, pass } = world();
  add(6, "a");
  releases.stop();
  await pass();
  expect(seen.heard).toEqual([1, 2, 3, 4]);
  expect(seen.failures).toEqual([]);
});

test("a reply and the attempt that follows it count as one, other replies do not", async () => {
  const { seen, releases, pass } = world();
  const reply = (id: string): Effect => ({ type: "reply", reply: 1, id, status: "accepted" });
  releases.add([..."abcde"].flatMap((id) => [reply(id), attempt({ id })]), []);
  expect(seen.batches).toEqual([8]);
  await pass();
  expect(seen.batches.splice(0)).toEqual([8, 2]);

  releases.add(
    [reply("a"), reply("b"), attempt({ id: "c" }), attempt({ id: "b" }), reply("b")],
    [],
  );
  await pass();
  expect(seen.batches).toEqual([4, 1]);
});
