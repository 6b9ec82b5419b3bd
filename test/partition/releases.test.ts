import { expect, test } from "vitest";
import type { Effect } from "../../src/engine/effect.ts";
import { Releases } from "../../src/partition/releases.ts";
import { attempt } from "../outbound/_attempts.ts";

const LOT = 4;

/** Releases of a partition whose `soon` and store are worked by hand. */
function world() {
  const seen = {
    /** Lengths of batches. */
    batches: [] as number[],
    /** Numbers of effects, and names of groups that were told. */
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
    effectsMax: LOT,
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
  /** Lets whatever was put off have its turn. */
  const pass = async () => {
    for (const call of seen.soons.splice(0)) call();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { ...{ seen, releases, add, pass } };
}

test("what fits a batch goes at once, and whoever waits for its turn is told after it", () => {
  const { seen, add } = world();
  add(LOT, "a");
  add(0, "b");
  expect(seen.heard).toEqual([1, 2, 3, 4, "a", "b"]);
  expect(seen.soons).toEqual([]);
});

test("the rest follows batch by batch, in order, and fills up with what came meanwhile", async () => {
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

test("the more wait, the bigger the batches", async () => {
  const { seen, add, pass } = world();
  add(100_000, "a");
  while (seen.soons.length > 0) await pass();
  expect(seen.batches[0]).toBe(25_000);
  expect(seen.batches.length).toBeLessThan(50);
  expect(seen.heard).toHaveLength(100_001);
});

test("whoever may have lost the partition asks before the next batch", async () => {
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

test("when the partition is another's, what is left stays, and it is told", async () => {
  const { seen, add, pass } = world();
  seen.confirm = () => Promise.reject(new Error("fenced"));
  add(6, "a");
  seen.isHeld = false;
  await pass();
  expect(seen.batches).toEqual([4]);
  expect(String(seen.failures)).toBe("Error: fenced");
});

test("after the end nothing is released", async () => {
  const { seen, releases, add, pass } = world();
  add(6, "a");
  releases.stop();
  await pass();
  expect(seen.heard).toEqual([1, 2, 3, 4]);
  expect(seen.failures).toEqual([]);
});

test("a reply and the attempt that follows it are one, other replies are not", async () => {
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
