import { expect, test } from "vitest";
import {
  type Capacity,
  type Demand,
  firstFull,
  hasOwnLimits,
  limitsOf,
  pausedBy,
} from "../../../src/engine/flow/admission.ts";
import { printQueueId } from "../../../src/model/queue.ts";
import { controlsOf } from "../../support/controls.ts";

const demand: Demand = {
  service: "greeter",
  handler: "hi",
  scope: "blue",
  limitKey: "a/b",
  deployment: "dp_1",
  queueId: undefined,
  isFirst: true,
};
const rate = { count: 1, periodMs: 1_000 };
const roomy: Capacity = { hasSlot: () => true, hasToken: () => true };
const full = (...counters: string[]): Capacity => ({
  hasSlot: (counter) => !counters.includes(counter),
  hasToken: (counter) => !counters.includes(counter),
});

test("the counters of an invocation are those that are limited, the narrowest first", () => {
  const one = { concurrency: 1 };
  const controls = controlsOf({
    rules: { "*": one, "blue/*": { concurrency: 2 }, "blue/*/b": { rate }, "*/*": one },
    services: { greeter: { limits: one, handlers: { hi: { concurrency: 3 } } } },
  });
  expect(limitsOf(demand, controls)).toEqual([
    { counter: "handler:greeter/hi", limits: { concurrency: 3 } },
    { counter: "service:greeter", limits: one },
    { counter: "scope:blue/a/b", limits: { rate } },
    { counter: "scope:blue/a", limits: { concurrency: 2 } },
    { counter: "scope:blue", limits: one },
  ]);
  expect(limitsOf({ ...demand, handler: undefined, limitKey: undefined }, controls))
    .toEqual([{ counter: "service:greeter", limits: one }, { counter: "scope:blue", limits: one }]);
  expect(limitsOf({ ...demand, service: "other", scope: undefined }, controls)).toEqual([]);
  expect(hasOwnLimits("greeter", "hi", controls)).toBe(true);
  expect(hasOwnLimits("greeter", "constructor", controls)).toBe(false);
  expect(limitsOf({ ...demand, handler: "constructor", scope: undefined }, controls))
    .toEqual([{ counter: "service:greeter", limits: one }]);
});

test("a rule that is disabled does not count, and another one takes its place", () => {
  const rules = { blue: { concurrency: 1, disabled: true }, "*": { concurrency: 5 } };
  expect(limitsOf({ ...demand, limitKey: undefined }, controlsOf({ rules })))
    .toEqual([{ counter: "scope:blue", limits: { concurrency: 5 } }]);
});

test("the first counter without room says why one has to wait", () => {
  const controls = controlsOf({
    rules: { blue: { concurrency: 1 }, "blue/a": { rate } },
    services: { greeter: { limits: { concurrency: 1 } } },
  });
  expect(firstFull(demand, controls, roomy)).toBeUndefined();
  expect(firstFull(demand, controls, full("scope:blue")))
    .toEqual({ counter: "scope:blue", by: "concurrency" });
  expect(firstFull(demand, controls, full("scope:blue", "scope:blue/a")))
    .toEqual({ counter: "scope:blue/a", by: "rate", rate });
  // What has run takes no token.
  expect(firstFull({ ...demand, isFirst: false }, controls, full("scope:blue/a"))).toBeUndefined();
});

test("a pause of the service, the deployment or the queue holds back before any limit", () => {
  const id = printQueueId(demand);
  const paused = { services: { greeter: { paused: true } } } as const;
  expect(pausedBy(demand, controlsOf(paused))).toBe("paused service:greeter");
  expect(pausedBy(demand, controlsOf({ pausedDeployments: ["dp_1"] })))
    .toBe("paused deployment:dp_1");
  expect(pausedBy({ ...demand, queueId: id }, controlsOf({ pausedQueues: [id] })))
    .toBe(`paused queue:${id}`);
  expect(pausedBy(
    { ...demand, queueId: "vq_other", deployment: "dp_2" },
    controlsOf({
      pausedQueues: [id],
      pausedDeployments: ["dp_1"],
    }),
  )).toBeUndefined();
  expect(firstFull(demand, controlsOf(paused), full("service:greeter")))
    .toEqual({ counter: "paused service:greeter", by: "paused" });
});
