import { beforeEach, expect, test } from "vitest";
import type { Write } from "../../src/model/rows.ts";
import { objectOf } from "../../src/model/target.ts";
import { CommittedChanges } from "../../src/partition/committed_changes.ts";

let now: number, alarms: { readonly due: number; readonly call: () => void }[];
let changes: CommittedChanges;

/** Lets time pass. */
function pass(ms: number): void {
  now += ms;
  for (const alarm of alarms.filter(({ due }) => due <= now)) alarm.call();
}

const at = (due: number, call: () => void) => {
  const alarm = { due, call };
  alarms.push(alarm);
  return () => void (alarms = alarms.filter((one) => one !== alarm));
};

beforeEach(() => {
  now = 1_000;
  alarms = [];
  changes = new CommittedChanges({ clock: { now: () => now, at }, life: "0.1" });
});

const invocation = (id: string, service = "Greeter") =>
  ({ table: "invocation", row: { id, target: { service } } }) as Write;
const state = (service: string) =>
  ({ table: "state", row: { object: objectOf(service, "k"), name: "n" } }) as Write;

/** A cursor for what comes now. */
const begin = async () => (await changes.after(undefined)).cursor;

test("who has no cursor is to read everything, and gets one", async () => {
  changes.note([invocation("a")]);
  const { cursor, isAll } = await changes.after(undefined);
  expect(isAll).toBe(true);
  changes.note([invocation("b"), state("Cart")]);
  expect(await changes.after(cursor)).toEqual({
    cursor: expect.any(String),
    invocations: ["b"],
    services: ["Greeter", "Cart"],
  });
});

test("journals and failures are changes of their invocation", async () => {
  const cursor = await begin();
  changes.note([{ table: "journal", row: { id: "a", index: 1 } } as Write]);
  changes.note([{ table: "event", row: { id: "b", seq: 1 } } as Write]);
  expect(await changes.after(cursor)).toMatchObject({ invocations: ["a", "b"], services: [] });
});

test("an invocation that is dropped has changed", async () => {
  const cursor = await begin();
  changes.note([{ table: "invocation", row: { id: "a" }, drop: true } as Write]);
  expect(await changes.after(cursor)).toMatchObject({ invocations: ["a"], services: [] });
});

test("each cursor hears of each change once", async () => {
  const first = await begin();
  changes.note([invocation("a")]);
  const { cursor } = await changes.after(first);
  changes.note([invocation("b")]);
  expect((await changes.after(cursor)).invocations).toEqual(["b"]);
  expect((await changes.after(first)).invocations).toEqual(["a", "b"]);
});

test("a request waits for the next commit that writes something", async () => {
  const waiting = changes.after(await begin());
  changes.note([]);
  changes.note([invocation("a")]);
  expect((await waiting).invocations).toEqual(["a"]);
  expect(alarms).toEqual([]);
});

test("a request is answered without a change in time, and when its caller leaves", async () => {
  const cursor = await begin();
  const late = changes.after(cursor);
  let leave = () => {};
  const left = changes.after(cursor, (call) => void (leave = call));
  leave();
  expect(await left).toEqual({ cursor, invocations: [], services: [] });
  pass(20_000);
  expect(await late).toEqual({ cursor, invocations: [], services: [] });
});

test.each(["", "0.2/0", "0.1/7", "0.1/x", "0.1"])(
  "a cursor %j is of nobody here",
  async (cursor) => {
    expect((await changes.after(cursor)).isAll).toBe(true);
  },
);

test("who is behind by very many is to read everything", async () => {
  const cursor = await begin();
  for (let i = 0; i <= 1_000; i++) changes.note([invocation(`i${i}`)]);
  const { isAll, cursor: next } = await changes.after(cursor);
  expect(isAll).toBe(true);
  changes.note([invocation("a")]);
  expect((await changes.after(next)).invocations).toEqual(["a"]);
});

test("nothing is kept when nobody has asked for a minute", async () => {
  const cursor = await begin();
  pass(60_001);
  changes.note([invocation("a")]);
  expect((await changes.after(cursor)).isAll).toBe(true);
});

test("the end of a life ends requests", async () => {
  const waiting = changes.after(await begin());
  changes.stop();
  await expect(waiting).rejects.toThrow("the partition has stopped");
});
