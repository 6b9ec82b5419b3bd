import { expect, test } from "vitest";
import { NO_CONTROLS } from "../../src/model/limits.ts";
import { Schema } from "../../src/model/schema.ts";
import { Bench } from "../partition/_bench.ts";
import { deployment, schema, targetOf } from "../support/schema.ts";

const ID = "inv_1dceKvwtEc2n5U1Qe8xhRaFwuQF5On9QaJ";

/** Statuses after each failed attempt of an invocation that `origin` has begun. */
function statuses(
  options: Readonly<Record<string, string>>,
  origin: { readonly by: "subscription"; readonly id: string } | { readonly by: "ingress" },
): string[] {
  const subscription = { id: "sub_1", source: "", sink: "", options, createdAt: 0 };
  const subscriptions = new Map([["sub_1", subscription]]);
  const given = new Schema([deployment], schema.defaults, { ...NO_CONTROLS, subscriptions });
  const bench = new Bench(1e6, given);
  const retention = { resultMs: 1_000, journalMs: 1_000 };
  const target = targetOf("greeter/hi");
  bench.run({
    type: "invoked",
    ...{ id: ID, fresh: true, target, headers: [], value: new Uint8Array(), origin, retention },
  }, 0);
  const seen: string[] = [];
  for (let now = 1; seen.length < 3; now += 100_000) {
    const { attempt = 0 } = bench.disk.find("invocation", ID) ?? {};
    const failure = { code: 500, status: 500, message: "no" };
    const outcome = { kind: "failed", failure, reached: true } as const;
    bench.run({ type: "attemptEnded", id: ID, attempt, outcome, jitter: 0 } as never, now);
    seen.push(bench.disk.find("invocation", ID)?.status.kind ?? "gone");
    const timer = bench.disk.group("timer", ID)[0];
    if (timer) bench.run({ ...timer, type: "timerFired" }, timer.due);
  }
  return seen;
}

const RECORD = { by: "subscription", id: "sub_1" } as const;

test("an invocation of a record fails after as many attempts as its subscription allows", () => {
  expect(statuses({ "max.attempts": "2" }, RECORD)).toEqual([
    "backingOff",
    "completed",
    "completed",
  ]);
});

test("without the option, and for other invocations, the handler's retry policy holds", () => {
  const retried = ["backingOff", "backingOff", "backingOff"];
  expect(statuses({}, RECORD)).toEqual(retried);
  expect(statuses({ "max.attempts": "2" }, { by: "ingress" })).toEqual(retried);
  expect(statuses({ "max.attempts": "2" }, { ...RECORD, id: "sub_2" })).toEqual(retried);
});
