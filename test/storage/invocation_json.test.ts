import fc from "fast-check";
import { expect, test } from "vitest";
import type { InvocationRow } from "../../src/model/invocation.ts";
import { invocationJson } from "../../src/storage/invocation_json.ts";
import { toJson } from "../../src/storage/safe_text.ts";
import { invocation, NAMES } from "./_rows.ts";

const name = fc.constantFrom(...NAMES);
const time = fc.option(fc.nat(), { nil: undefined });

/** What the arbitrary of the contract leaves out. */
const more = fc.record({
  lastFailure: fc.option(fc.record({ code: name, status: fc.nat(), message: name }), {
    nil: undefined,
  }),
  pin: fc.option(fc.record({ deployment: name, protocol: fc.nat() }), { nil: undefined }),
  callers: fc.array(fc.record({ id: name, completion: fc.nat(), type: fc.nat() })),
  origin: fc.oneof(
    fc.constant({ by: "ingress" } as const),
    fc.record({ by: fc.constant("service" as const), id: name, target: name }),
  ),
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
    expect(JSON.parse(invocationJson(row))).toEqual(JSON.parse(toJson(rest)));
  })));
