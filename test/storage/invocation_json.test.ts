import fc from "fast-check";
import { expect, test } from "vitest";
import { newRow } from "../../src/engine/lifecycle/invoked.ts";
import { Turn } from "../../src/engine/turn.ts";
import type { InvocationRow } from "../../src/model/invocation.ts";
import { Resident } from "../../src/partition/resident.ts";
import { invocationJson, parsedInvocation } from "../../src/storage/codec/invocation_json.ts";
import { fromJson, toJson } from "../../src/storage/codec/safe_text.ts";
import { invocationRow } from "../support/rows.ts";
import { schema } from "../support/schema.ts";
import { NAMES } from "./_counters.ts";
import { invocation } from "./_rows.ts";

const name = fc.constantFrom(...NAMES);
const time = fc.option(fc.nat(), { nil: undefined });

/** What the arbitrary of the contract leaves out. */
const more = fc.record({
  lastFailure: fc.option(fc.record({ code: name, status: fc.nat(), message: name }), {
    nil: undefined,
  }),
  lastAttempt: fc.option(
    fc.record({ startedAt: fc.nat(), deployment: name, server: name }, {
      requiredKeys: ["startedAt"],
    }),
    { nil: undefined },
  ),
  pin: fc.option(fc.record({ deployment: name, protocol: fc.nat() }), { nil: undefined }),
  trace: fc.option(
    fc.record({
      id: name,
      parent: name,
      sampled: fc.boolean(),
      state: fc.option(name, { nil: undefined }),
      spans: fc.constantFrom(undefined, true as const),
    }),
    { nil: undefined },
  ),
  callers: fc.array(fc.record({ id: name, completion: fc.nat(), type: fc.nat() })),
  origin: fc.oneof(
    fc.constant({ by: "ingress" } as const),
    fc.record({ by: fc.constant("service" as const), id: name, target: name }),
    fc.record({ by: fc.constant("subscription" as const), id: name }),
  ),
  spared: fc.option(fc.integer({ min: 1 }), { nil: undefined }),
  events: fc.option(fc.integer({ min: 1 }), { nil: undefined }),
  failed: fc.option(fc.integer({ min: 1 }), { nil: undefined }),
  pausing: fc.option(fc.constant(true as const), { nil: undefined }),
  waitedMs: fc.option(fc.record({ lock: fc.nat(), invoker: fc.nat() }, { requiredKeys: [] }), {
    nil: undefined,
  }),
  suspensions: fc.option(
    fc.record({ count: fc.nat(), yields: fc.nat(), ms: fc.nat(), since: fc.nat() }, {
      requiredKeys: ["count", "ms"],
    }),
    { nil: undefined },
  ),
  seedOf: fc.option(name, { nil: undefined }),
  idempotencyKey: fc.option(name, { nil: undefined }),
  scheduledAt: time,
  inboxedAt: time,
  runningAt: time,
  completedAt: time,
  answer: fc.option(
    fc.oneof(
      fc.constant({}),
      fc.record({ failure: fc.record({ code: fc.nat(), message: name }) }),
    ),
    { nil: undefined },
  ),
});

test("an invocation written by hand says what JSON says of it", () =>
  fc.assert(fc.property(invocation, more, (some, more) => {
    const row: InvocationRow = { ...some, ...more };
    const { output: _, ...rest } = row;
    expect(JSON.parse(invocationJson(row))).toEqual(JSON.parse(toJson(withTreeAsText(rest))));
    expect(parsedInvocation(fromJson(invocationJson(row)))).toEqual(rest);
  })));

test("a row that is read has the fields of a new one, in the same order", () => {
  const { id, target, origin, retention } = invocationRow();
  const made = newRow(new Turn(1, schema, { rows: new Resident(1) }), {
    id,
    target,
    origin,
    retention,
  });
  const read = parsedInvocation(fromJson(invocationJson(made)));
  expect(Object.keys(read)).toEqual(Object.keys(made));
});

/** Trees may be too deep for SQLite, so they are text within the JSON. */
function withTreeAsText(row: InvocationRow): object {
  const { status } = row;
  if (status.kind !== "suspended" || !status.awaiting.nested) return row;
  return { ...row, status: { ...status, awaiting: toJson(status.awaiting) } };
}
