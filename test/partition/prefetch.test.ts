import { expect, test } from "vitest";
import type { Event } from "../../src/engine/event.ts";
import { type Limits, RuleBook } from "../../src/model/limits.ts";
import { ONLY_PARTITION } from "../../src/model/ring.ts";
import { type Rows, sourceOf, type Table, timerItem, type Want } from "../../src/model/rows.ts";
import { Schema } from "../../src/model/schema.ts";
import type { Target } from "../../src/model/target.ts";
import { prefetch } from "../../src/partition/prefetch.ts";
import { Resident } from "../../src/partition/resident.ts";
import { defaults, deployment, schema, targetOf } from "../support/schema.ts";

const LOCK = { object: "counter/bob", holder: "inv_1other", head: 0, tail: 0 };
const lock: Want = { table: "lock", group: "counter/bob", item: "" };
const state: Want = { table: "state", group: "counter/bob" };

function invoked(path: string, fresh = true): { readonly event: Event } {
  const target: Target = targetOf(path);
  return {
    event: {
      type: "invoked",
      id: "inv_1x",
      fresh,
      target,
      headers: [],
      value: new Uint8Array(0),
      origin: { by: "ingress" },
      retention: { resultMs: 0, journalMs: 0 },
    },
  };
}

/** Resident rows after a load of these wants. */
function knowing(...loaded: (readonly [Want, readonly Rows[Table][]])[]): Resident {
  const resident = new Resident(1e9);
  resident.expect(0);
  resident.add(loaded.map(([want, rows]) => ({ want, rows })));
  return resident;
}

test("a call that gets the lock of an object needs its state", () => {
  const mail = [invoked("counter/bob/add"), invoked("counter/bob/add")];
  expect(prefetch(mail, { range: ONLY_PARTITION, resident: knowing(), schema })).toEqual([
    lock,
    state,
  ]);
  expect(prefetch(mail, { range: ONLY_PARTITION, resident: knowing([lock, []]), schema })).toEqual([
    state,
  ]);
  expect(
    prefetch(mail, { range: ONLY_PARTITION, resident: knowing([lock, []], [state, []]), schema }),
  ).toEqual([]);
});

test("a call that waits for the lock needs no state, and a shared one does", () => {
  const resident = knowing([lock, [LOCK]]);
  expect(prefetch([invoked("counter/bob/add")], { range: ONLY_PARTITION, resident, schema }))
    .toEqual([]);
  expect(prefetch([invoked("counter/bob/peek")], { range: ONLY_PARTITION, resident, schema }))
    .toEqual([state]);
});

test("a handler with lazy state needs none to start", () => {
  const services = deployment.services.map((service) => ({
    ...service,
    options: { lazyState: true },
  }));
  const lazy = new Schema([{ ...deployment, services }], defaults);
  const around = { range: ONLY_PARTITION, resident: knowing(), schema: lazy };
  expect(prefetch([invoked("counter/bob/add")], around)).toEqual([lock]);
  expect(prefetch([invoked("counter/bob/peek")], around)).toEqual([]);
});

test("an id that is not fresh may exist already", () => {
  const taken: Want = { table: "invocation", group: "inv_1x", item: "" };
  const around = { range: ONLY_PARTITION, resident: knowing(), schema };
  expect(prefetch([invoked("greeter/hi", false)], around)).toEqual([taken]);
  expect(prefetch([invoked("greeter/hi")], around)).toEqual([]);
});

test("records need the row of their source, and what those of them need that are new", () => {
  const source = { subscription: "sub_1", group: "g", topic: "t", partition: 0 };
  const row = { home: 0, source, next: 1, settled: 0 };
  const want: Want = { table: "source", group: sourceOf(row), item: "" };
  const records = ["counter/eve/add", "counter/bob/add", "counter/bob/add"].map((path, offset) => {
    const { event } = invoked(path);
    return { offset, request: event as Event & { type: "invoked" } };
  });
  const event = { type: "ingested", source, settled: 0, next: 3, records, reply: 1 } as const;
  const around = { range: ONLY_PARTITION, schema };
  expect(prefetch([{ event }], { ...around, resident: knowing([want, [row]]) }))
    .toEqual([lock, state]);
  expect(prefetch([{ event }], { ...around, resident: knowing() }).map(({ table }) => table))
    .toEqual(["source", "lock", "state", "lock", "state"]);
  // After a reshard their invocations may exist.
  const moved = { ...around, resident: knowing([want, [{ ...row, earlier: [[7, 7]] }]]) };
  expect(prefetch([{ event }], moved)).toContainEqual(
    { table: "invocation", group: "inv_1x", item: "" },
  );
});

test("a grant needs all that its invocation reads to its end, and the buckets of its rates", () => {
  const rule = (pattern: string, limits: Limits) =>
    ({ pattern, limits, disabled: false, version: 1, modifiedAt: 0 }) as const;
  const rated = { count: 1, periodMs: 1_000 };
  const rules = [rule("a", { concurrency: 1 }), rule("a/*", { rate: rated })];
  const controls = { ...schema.controls, rules: new RuleBook(rules, 1) };
  const reserved = ["service:greeter", "scope:a/b", "scope:a"];
  const event = { type: "granted", id: "inv_1x", seq: 0, reserved } as const;
  const context = {
    range: ONLY_PARTITION,
    resident: knowing(),
    schema: new Schema([deployment], defaults, controls),
  };
  expect(prefetch([{ event }], context)).toEqual([
    { table: "invocation", group: "inv_1x", item: "" },
    { table: "journal", group: "inv_1x" },
    { table: "timer", group: "inv_1x" },
    { table: "bucket", group: "scope:a/b", item: "" },
  ]);
});

test("an attempt that waited for a slot, and one that has ended, need what completes them", () => {
  const row: Want = { table: "invocation", group: "inv_1x", item: "" };
  const timers: Want = { table: "timer", group: "inv_1x" };
  const around = { range: ONLY_PARTITION, schema };
  const free = { type: "slotFree", id: "inv_1x", attempt: 1 } as const;
  expect(prefetch([{ event: free }], { ...around, resident: knowing() }))
    .toEqual([row, { table: "journal", group: "inv_1x" }, timers]);
  const end = { type: "attemptEnded", id: "inv_1x", attempt: 1, jitter: 0 } as const;
  const ended = { event: { ...end, outcome: { kind: "ended" } } } as const;
  expect(prefetch([ended], { ...around, resident: knowing() })).toEqual([row, timers]);
  expect(prefetch([ended], { ...around, resident: knowing([row, []], [timers, []]) })).toEqual([]);
});

test("who waited for a timer needs all that it goes on with, and who runs needs the timer", () => {
  const row: Want = { table: "invocation", group: "inv_1x", item: "" };
  const timers: Want = { table: "timer", group: "inv_1x" };
  const around = { range: ONLY_PARTITION, schema };
  const event = { type: "timerFired", id: "inv_1x", due: 1, kind: "sleep", index: 3 } as const;
  expect(prefetch([{ event }], { ...around, resident: knowing() }))
    .toEqual([row, { table: "journal", group: "inv_1x" }, timers]);
  const running = { id: "inv_1x", status: { kind: "invoked" } } as Rows["invocation"];
  expect(prefetch([{ event }], { ...around, resident: knowing([row, [running]]) }))
    .toEqual([{ table: "timer", group: "inv_1x", item: timerItem(event) }]);
});
