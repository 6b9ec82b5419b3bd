import { expect, test } from "vitest";
import type { Event } from "../../src/engine/event.ts";
import { Slots } from "../../src/engine/flow/slots.ts";
import type { Rows } from "../../src/model/rows.ts";
import { Desk } from "./_desk.ts";

const BLUE = { path: "blue:greeter/hi" } as const;
const NOTHING = { slots: 0, starts: 0, asksSlots: false, asksStarts: false, isWanted: false };

/** A turn has found what the partition has of a counter, in answer to an event about it. */
function find(desk: Desk, share: Partial<Rows["share"]> & Pick<Rows["share"], "counter">): void {
  const found = new Slots(desk.scheduler, desk.scheduler.nextSeq);
  found.shares.push({ partition: 1, ...NOTHING, ...share });
  found.reviewed.push(share.counter);
  desk.scheduler.apply(found);
}

test("with its token, the next one asks for the slot that another partition has", () => {
  const counter = "handler:greeter/hi";
  const events: Event[] = [];
  const desk = new Desk({
    rules: { blue: { rate: { count: 1, periodMs: 100 } } },
    services: { greeter: { handlers: { hi: { concurrency: 1 } } } },
  }, { range: { partition: 1, partitions: 2 }, send: (event) => void events.push(event) });
  find(desk, { counter, slots: 1 });
  desk.bucket("scope:blue", 0);
  desk.wait("i1", BLUE);
  // The idle slot went to another partition.
  find(desk, { counter });
  events.length = 0;
  desk.pass(100);
  expect(events).toEqual([{ type: "shortOfSlots", id: counter, slots: 1, starts: 0 }]);
});

test("a slot that was kept while the next one lacked is given back when a scope holds it up", () => {
  const [handler, service] = ["handler:greeter/hi", "service:greeter"];
  const events: Event[] = [];
  const desk = new Desk({
    rules: { blue: { rate: { count: 1, periodMs: 100 } } },
    services: { greeter: { limits: { concurrency: 1 }, handlers: { hi: { concurrency: 1 } } } },
  }, { range: { partition: 1, partitions: 2 }, send: (event) => void events.push(event) });
  find(desk, { counter: handler, slots: 1 });
  find(desk, { counter: service });
  desk.bucket("scope:blue", 0);
  desk.wait("i1", BLUE);
  expect(events).toEqual([{ type: "shortOfSlots", id: service, slots: 1, starts: 0 }]);
  // Another partition wants the slot of the handler, which is kept for the one of the service.
  find(desk, { counter: handler, slots: 1, isWanted: true });
  expect(events).toHaveLength(1);
  find(desk, { counter: service, slots: 1 });
  expect(events.slice(1)).toEqual([{ type: "slotsIdle", id: handler, slots: 1, starts: 0 }]);
});

test.each([
  ["kept while one waits that has never run", false, []],
  ["given back when only those wait that have run", true, [{ slots: 0, starts: 1 }]],
])("a start is %s", (_, hasRun, returned) => {
  const counter = "service:greeter", rate = { count: 1, periodMs: 3_600_000 };
  const events: Event[] = [];
  const desk = new Desk({ services: { greeter: { limits: { concurrency: 1, rate } } } }, {
    range: { partition: 1, partitions: 2 },
    send: (event) => void events.push(event),
  });
  desk.wait("resumed", { path: "greeter/hi", hasRun: true });
  desk.wait("i1", { path: "greeter/hi", hasRun });
  events.length = 0;
  find(desk, { counter, starts: 1, asksSlots: true });
  expect(events).toEqual(returned.map((one) => ({ type: "slotsIdle", id: counter, ...one })));
});

test("a slot of a handler is given back when another handler takes the start of the service", () => {
  const [handler, service] = ["handler:greeter/hi", "service:greeter"];
  const rate = { count: 1, periodMs: 3_600_000 };
  const events: Event[] = [];
  const desk = new Desk({
    services: {
      greeter: { limits: { concurrency: 1, rate }, handlers: { hi: { concurrency: 1 } } },
    },
  }, { range: { partition: 1, partitions: 2 }, send: (event) => void events.push(event) });
  const asked = { asksSlots: true, asksStarts: true };
  find(desk, { counter: service, ...asked, starts: 1 });
  find(desk, { counter: handler, slots: 1 });
  desk.wait("i1", { path: "greeter/hi" });
  events.length = 0;
  // It waits for the slot of the service, and its start is there.
  find(desk, { counter: handler, slots: 1, isWanted: true });
  expect(events).toEqual([]);
  find(desk, { counter: service, ...asked });
  expect(events).toEqual([{ type: "slotsIdle", id: handler, slots: 1, starts: 0 }]);
});
