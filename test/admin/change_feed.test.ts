import { setImmediate as settled } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import { ChangeFeed, type Hint } from "../../src/admin/change_feed.ts";
import type { Changes } from "../../src/model/changes.ts";

let now: number, alarms: { readonly due: number; readonly call: () => void }[];
/** Requests to partitions that have no answer yet. */
let asked: { partition: number; cursor: string | undefined; answer: (changes?: Changes) => void }[];
let configured: () => void, left: number[];
let feed: ChangeFeed;

beforeEach(() => {
  now = 1_000;
  alarms = [];
  asked = [];
  left = [];
  feed = new ChangeFeed({
    partitions: 2,
    clock: { now: () => now, at },
    subscribe: (call) => void (configured = call),
    changes: (partition, cursor, onLeave) =>
      new Promise((resolve, reject) => {
        onLeave(() => left.push(partition));
        const answer = (changes?: Changes) =>
          changes ? resolve(changes) : reject(new Error("gone"));
        asked.push({ partition, cursor, answer });
      }),
  });
});

function at(due: number, call: () => void) {
  const alarm = { due, call };
  alarms.push(alarm);
  return () => void (alarms = alarms.filter((one) => one !== alarm));
}

async function pass(ms: number): Promise<void> {
  await settled();
  now += ms;
  const due = alarms.filter((one) => one.due <= now);
  alarms = alarms.filter((one) => !due.includes(one));
  for (const { call } of due) call();
  await settled();
}

/** Answers the oldest request to a partition. */
async function answer(partition: number, changes?: Partial<Changes>): Promise<void> {
  const at = asked.findIndex((one) => one.partition === partition);
  const [request] = asked.splice(at, 1);
  request?.answer(changes && { cursor: "c", invocations: [], services: [], ...changes });
  await settled();
}

/** Reads a stream to its end. `hints`: those so far. */
function read(stream = feed.open()) {
  const reader = stream.getReader();
  const hints: Hint[] = [];
  let text = "";
  const ended = (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += new TextDecoder().decode(value);
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data) hints.push(JSON.parse(data));
      }
    }
  })();
  return { hints, ended, cancel: () => reader.cancel() };
}

/** A stream whose partitions have answered once, without its first hint. */
async function opened() {
  const { hints, ...stream } = read();
  await settled();
  await answer(0, { isAll: true });
  await answer(1, { isAll: true });
  await pass(250);
  expect(hints.splice(0)).toEqual([{ v: expect.any(Number), all: true }]);
  return { hints, ...stream };
}

test("changes of all partitions come in one hint, and the next one later", async () => {
  const { hints } = await opened();
  await answer(0, { invocations: ["a"], services: ["Cart"] });
  await answer(1, { invocations: ["b"], services: ["Cart"] });
  await pass(0);
  expect(hints.splice(0)).toEqual([{ v: 2, inv: ["a", "b"], svc: ["Cart"] }]);
  await pass(250);
  await answer(0, { invocations: ["c"] });
  await pass(0);
  await pass(0);
  expect(hints.splice(0)).toEqual([{ v: 3, inv: ["c"], svc: [] }]);
});

test("a hint waits for its turn", async () => {
  const { hints } = await opened();
  configured();
  await pass(0);
  configured();
  await pass(249);
  expect(hints).toEqual([{ v: 2, inv: [], svc: [], config: true }]);
  await pass(1);
  expect(hints).toHaveLength(2);
});

test("cursors are passed on", async () => {
  await opened();
  expect(asked.map(({ partition, cursor }) => [partition, cursor])).toEqual([[0, "c"], [1, "c"]]);
});

test("after a partition could not be asked, anything may have changed", async () => {
  const { hints } = await opened();
  await answer(0);
  await pass(1_000);
  await answer(0, { isAll: true });
  await pass(0);
  expect(hints).toEqual([{ v: 2, all: true }]);
});

test("very many names are anything", async () => {
  const { hints } = await opened();
  await answer(0, { invocations: Array.from({ length: 101 }, (_, i) => `i${i}`) });
  await pass(0);
  expect(hints).toEqual([{ v: 2, all: true }]);
});

test("all streams share the requests, which the last one ends", async () => {
  const one = await opened(), other = read();
  await settled();
  expect([other.hints, asked.length]).toEqual([[{ v: 2, all: true }], 2]);
  await one.cancel();
  expect(left).toEqual([]);
  await other.cancel();
  expect(left).toEqual([0, 1]);
  await answer(0, { invocations: ["a"] });
  await answer(1);
  await pass(60_000);
  expect([asked, alarms]).toEqual([[], []]);
});

test("a later stream begins anew", async () => {
  const { cancel } = await opened();
  await cancel();
  asked = [];
  await opened();
  expect(asked).toHaveLength(2);
});

test("a slow reader is told that anything may have changed", async () => {
  const slow = feed.open();
  await settled();
  for (let i = 0; i < 40; i++) {
    configured();
    await pass(250);
  }
  const { hints } = read(slow);
  await settled();
  expect(hints).toHaveLength(16);
  configured();
  await pass(250);
  expect(hints.at(-1)).toEqual({ v: expect.any(Number), all: true });
});

test("the end of the process ends all streams, and there is no other", async () => {
  const { ended } = await opened();
  feed.end();
  await ended;
  expect(left).toEqual([0, 1]);
  expect(() => feed.open()).toThrow("the server ends");
});

test("a stream ends after five minutes: its reader shows again that it may read", async () => {
  const early = read();
  await settled();
  await pass(15_000);
  const late = read();
  let isOver = false;
  void early.ended.then(() => isOver = true);
  for (let beat = 2; beat < 20; beat++) await pass(15_000);
  expect(isOver).toBe(false);
  await pass(15_000);
  expect(isOver).toBe(true);
  await late.cancel();
});

test("there are a hundred streams at most", () => {
  for (let i = 0; i < 100; i++) feed.open();
  expect(() => feed.open()).toThrow("100 others");
});
