import { expect, test } from "vitest";
import type { InvocationRow, Status } from "../../src/model/invocation.ts";
import { Meter } from "../../src/observe/meter.ts";
import { Watch } from "../../src/observe/watch.ts";
import { invocationRow } from "../support/rows.ts";

const failure = (message: string) => ({ code: "RT0010", status: 500, message });
const target = {
  type: "virtual_object",
  access: "exclusive",
  service: "s",
  handler: "h",
  key: "k",
} as const;
const row = (status: Status, rest: Partial<InvocationRow> = {}): InvocationRow =>
  invocationRow({ target, status, ...rest });
const invoked = row({ kind: "invoked" });

/** What is written to the log when a turn has changed an invocation. */
function records(before: InvocationRow | null, after: InvocationRow): unknown[] {
  const told: unknown[] = [];
  const log = (_level: string, message: string, fields = {}) =>
    void told.push({ message, ...fields });
  new Watch({ meter: new Meter(), log, isDetailed: true }).invocationChanged(before, after);
  return told;
}

test("the record of a failed attempt says what comes next, and where to read more", () => {
  const failed = { lastFailure: failure("refused") };
  const ends: [Status, object][] = [
    [{ kind: "backingOff", until: 86_400_000 }, {
      next: "retry",
      retryAt: "1970-01-02T00:00:00.000Z",
      more: "SELECT * FROM sys_journal_events WHERE id = 'inv_1'",
    }],
    [{ kind: "paused" }, { next: "paused" }],
    [{ kind: "completed", failure: { code: 500, message: "refused" } }, {
      next: "failed",
      more: "SELECT * FROM sys_invocation WHERE id = 'inv_1'",
    }],
    // It was resumed within the same turn.
    [{ kind: "invoked" }, { next: "retry" }],
  ];
  for (const [status, next] of ends) {
    const [record] = records(invoked, row(status, failed));
    expect(record).toMatchObject({ message: "An attempt failed", reason: "refused", ...next });
  }
});

test("an attempt's number counts those whose delay the endpoint chose", () => {
  const before = { ...invoked, failures: 2, spared: 3 };
  const after = row({ kind: "backingOff", until: 1 }, { lastFailure: failure("refused") });
  expect(records(before, after)).toMatchObject([{ attempt: 6 }]);
});

test("a failure is reported once, and again when the next attempt fails alike", () => {
  const lastFailure = failure("refused");
  const waits = row({ kind: "backingOff", until: 1 }, { lastFailure });
  const runs = row({ kind: "invoked" }, { lastFailure });
  expect(records(waits, runs)).toEqual([]);
  const again = row({ kind: "backingOff", until: 2 }, { lastFailure: { ...lastFailure } });
  expect(records(runs, again)).toHaveLength(1);
});

test("a wait is counted once, when it is over", () => {
  const meter = new Meter();
  const watch = new Watch({ meter, log: () => {}, isDetailed: true });
  const queued = row({ kind: "queued", queue: "q", seq: 1, since: 5, by: "rate" });
  const begun = row({ kind: "invoked" }, { waitedMs: { rate: 2000 } });
  const backingOff = row({ kind: "backingOff", until: 9 }, { waitedMs: begun.waitedMs });
  const again = row({ kind: "invoked" }, { waitedMs: { rate: 2000, paused: 250 } });
  watch.invocationChanged(null, queued);
  watch.invocationChanged(queued, begun);
  watch.invocationChanged(begun, backingOff);
  watch.invocationChanged(backingOff, again);
  expect([...meter.waited]).toEqual([["s", "h", new Float64Array([0, 0, 2, 0.25, 0])]]);
});

test("a wait for a slot is counted as its attempt begins, and not again by its row", () => {
  const meter = new Meter();
  const watch = new Watch({ meter, log: () => {}, isDetailed: true });
  const runs = row({ kind: "invoked" });
  meter.slotWaited(runs.target, 1500);
  watch.invocationChanged(runs, row({ kind: "completed" }, { waitedMs: { invoker: 1500 } }));
  expect([...meter.waited]).toEqual([["s", "h", new Float64Array([0, 0, 0, 0, 1.5])]]);
});
