import { expect, test } from "vitest";
import type { Event, FramesReceived, Outcome } from "../../src/engine/event.ts";
import { step } from "../../src/engine/step.ts";
import { miss, type RowView, Turn } from "../../src/engine/turn.ts";
import type { InvocationRow } from "../../src/model/invocation.ts";
import type { Want } from "../../src/model/rows.ts";
import { Schema } from "../../src/model/schema.ts";
import { invocationRow } from "../support/rows.ts";
import { schema, targetOf } from "../support/schema.ts";

const target = targetOf("greeter/hi");
const invocation = invocationRow({ target, journal: 100_000, commands: 100_000 });

/** What an event asks for, when memory has no row but `row`. */
function wants(event: Event, row?: InvocationRow): readonly Want[] {
  const slice: RowView = {
    find: (table) => (table === "invocation" && row ? row : undefined) as never,
    list: () => undefined,
  };
  const turn = new Turn(0, schema, { rows: slice });
  expect(() => step(turn, event)).toThrow(miss as never);
  return turn.wants;
}

const ended = (outcome: Outcome): Event => ({
  type: "attemptEnded",
  id: "inv_1",
  attempt: 1,
  outcome,
  jitter: 0,
});
const suspended = ended({
  kind: "suspended",
  awaiting: { kind: "any", of: [] } as never,
  delivered: 99_000,
});
const failed = ended({
  kind: "failed",
  failure: { code: "RT0007", status: 500, message: "reset" },
  reached: true,
});
const heard: FramesReceived = {
  type: "framesReceived",
  id: "inv_1",
  attempt: 1,
  first: 0,
  frames: [{ kind: "run", bytes: new Uint8Array(0), completion: 1 }],
  pin: { deployment: "dp_1", protocol: 6 },
  entropy: new Uint8Array(16),
};

test("frames and the end of an attempt do not read a long journal that memory has let go of", () => {
  const row = { table: "invocation", group: "inv_1", item: "" };
  expect(wants(heard)).toEqual([row]);
  expect(wants(failed)).toEqual([row]);
});

test("an attempt that suspends reads what it was not told at once, and not entry by entry", () => {
  expect(wants(suspended, invocation)).toEqual([{ table: "journal", group: "inv_1" }]);
});

/** What becomes of an invocation with 100,000 entries, which are as many as are allowed. */
function atLimit(frames: FramesReceived["frames"]) {
  const limits = { journalEntriesMax: invocation.journal };
  const slice: RowView = {
    find: (table) => (table === "invocation" ? invocation : null) as never,
    list: () => [],
  };
  const turn = new Turn(0, new Schema([], { ...schema.defaults, limits }), { rows: slice });
  step(turn, { ...heard, frames });
  const { status, journal } = turn.find("invocation", "inv_1") ?? {};
  const types = turn.effects.map(({ type }) => type);
  return { status: status?.kind, journal, types, turn };
}

test("a command beyond the limit of a journal is not stored and pauses the invocation", () => {
  const { turn, ...outcome } = atLimit(heard.frames);
  expect(outcome).toEqual({ status: "paused", journal: 100_000, types: ["abort"] });
  const events = turn.list("event", "inv_1").map(({ failure }) => failure);
  expect(events).toMatchObject([{
    code: "RT0032",
    message: expect.stringContaining("100000 entries"),
  }]);
});

test("an invocation whose journal is full can still give its output", () => {
  const bytes = new Uint8Array(0);
  const output = { kind: "output", bytes, result: { kind: "value", value: bytes } } as const;
  const { turn: _, ...outcome } = atLimit([output]);
  expect(outcome).toEqual({ status: "invoked", journal: 100_001, types: [] });
});
