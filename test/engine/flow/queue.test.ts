import { expect, test } from "vitest";
import { countersOf, scopedName } from "../../../src/engine/flow/counters.ts";
import {
  countersOfQueue,
  demandOf,
  demandOfQueue,
  parseQueueName,
  queueNameOf,
} from "../../../src/engine/flow/queue.ts";
import { Slots } from "../../../src/engine/flow/slots.ts";
import { printQueueId, queueOf } from "../../../src/model/queue.ts";
import { Schema } from "../../../src/model/schema.ts";
import { invocationRow } from "../../support/rows.ts";
import { controlsOf, type GivenControls } from "../../support/controls.ts";
import { deployment, schema as plain, targetOf } from "../../support/schema.ts";

const schemaOf = (controls: GivenControls) =>
  new Schema([deployment], plain.defaults, controlsOf(controls));
const row = invocationRow({ target: targetOf("blue:greeter/hi"), limitKey: "a/b" });

test("the counters of an invocation are those of its handler, service, scope and limit key", () => {
  expect(countersOf(row)).toEqual([
    "handler:greeter/hi",
    "service:greeter",
    "scope:blue/a/b",
    "scope:blue/a",
    "scope:blue",
  ]);
  expect(countersOf({ target: targetOf("blue:greeter/hi"), limitKey: "a" }).slice(2))
    .toEqual(["scope:blue/a", "scope:blue"]);
  expect(countersOf({ target: targetOf("greeter/hi") }))
    .toEqual(["handler:greeter/hi", "service:greeter"]);
  expect(["scope:blue/a/b", "scope:blue"].map(scopedName)).toEqual(["blue/a/b", "blue"]);
});

test("the counters of a handler are its own, however many handlers there were before", () => {
  for (let n = 0; n <= 10_001; n++) {
    const [service, handler] = [`s${n % 101}`, `h${n}`];
    expect(countersOf({ target: { service, handler } }))
      .toEqual([`handler:${service}/${handler}`, `service:${service}`]);
  }
  expect(countersOf({ target: { service: "s1", handler: "h2" } })[0]).toBe("handler:s1/h2");
});

test("the name of a queue is read as it was written", () => {
  const queueId = printQueueId(queueOf(row));
  const cases: [GivenControls, string][] = [
    [{}, "08:blue:a/b:greeter::"],
    [{ services: { greeter: { handlers: { hi: {} } } } }, "08:blue:a/b:greeter:hi:"],
    [{ pausedDeployments: ["dp_9"] }, "08:blue:a/b:greeter::*"],
    [{ pausedQueues: [queueId] }, `08:blue:a/b:greeter:::${queueId}`],
  ];
  for (const [controls, name] of cases) {
    const schema = schemaOf(controls), demand = demandOf(row, schema);
    expect(queueNameOf(row, schema)).toBe(name);
    const own = controls.services ? "hi" : undefined;
    expect(demandOfQueue(parseQueueName(name), schema)).toMatchObject({ ...demand, handler: own });
  }
  const pinned = { ...row, pin: { deployment: "dp_1", protocol: 6 }, priority: 9, runningAt: 1 };
  expect(queueNameOf(pinned, schemaOf({ pausedDeployments: ["dp_9"] })))
    .toBe("19:blue:a/b:greeter::dp_1");
  expect(parseQueueName("00:::greeter::")).toEqual({
    lane: 0,
    service: "greeter",
    handler: undefined,
    scope: undefined,
    limitKey: undefined,
    deployment: undefined,
    queueId: undefined,
  });
  // Another one is paused, which does not concern this one.
  expect(queueNameOf(row, schemaOf({ pausedQueues: ["vq_1other"] }))).toBe("08:blue:a/b:greeter::");
});

test("what is reserved for the head of a queue are counters that it will hold", () => {
  for (const name of ["08:blue:a/b:greeter:hi:", "08:blue:a/b:greeter::dp_1", "08:::greeter::"]) {
    const reserved = countersOfQueue(parseQueueName(name));
    expect(countersOf(row)).toEqual(expect.arrayContaining(reserved));
  }
});

test("a turn sees what it has taken, given back and settled, and not what others do meanwhile", () => {
  const view = {
    held: () => 3,
    taken: () => 3,
    reservedTokens: () => 1,
    isAwaited: (name: string) => name === "x",
  };
  const slots = new Slots(view, 7);
  const counter = "scope:blue";
  expect(slots.taken(counter)).toBe(3);
  slots.change(row, 1);
  expect(slots.taken(counter)).toBe(4);
  slots.settle({ id: "i1", seq: 1 }, [counter]);
  slots.change(row, 1);
  slots.change(row, -1);
  slots.change(row, -1);
  expect(slots.taken(counter)).toBe(2);
  expect(slots.taken("scope:red")).toBe(3);
  expect(slots.isAwaited(counter)).toBe(false);
  slots.wait({ id: "i2", queue: "08:blue::greeter::", seq: slots.nextSeq++ }, counter);
  expect([slots.isAwaited(counter), slots.isAwaited("x"), slots.nextSeq]).toEqual([true, true, 8]);
});
