import { expect, test } from "vitest";
import { blockedText } from "../../src/ui/pages/limits/blocked.ts";

const row = (blocked_on: string, json: object) => ({
  id: "vq_1",
  status: "blocked",
  blocked_on,
  blocked_on_json: JSON.stringify({ resource: blocked_on, ...json }),
});

test.each([
  ["invoker-concurrency", {}, "a slot of the invoker"],
  ["lock", { lock_name: "Cart/7" }, "the lock of Cart/7"],
  ["limit-key-concurrency", { blocked_rule: "acme" }, "room in the limit acme"],
  ["paused", { paused: "deployment", name: "dp_1" }, "the end of the pause of deployment dp_1"],
  ["service-rate", { service: "Pay" }, "a start that the rate of the service Pay allows"],
  [
    "handler-rate",
    { service: "Pay", handler: "refund" },
    "a start that the rate of the handler refund allows",
  ],
])("a queue that is blocked on %s says so in words", (on, json, text) => {
  expect(blockedText(row(on, json))).toBe(text);
});
