import { expect, test } from "vitest";
import type { InvocationRow, Status } from "../../src/model/invocation.ts";
import type { Write } from "../../src/model/rows.ts";
import { controlsOf, type GivenControls } from "../support/controls.ts";
import { invocationRow } from "../support/rows.ts";
import { SlotCheck } from "./slots.ts";

const QUEUED: Status = {
  kind: "queued",
  queue: "q",
  seq: 1,
  since: 1,
  by: "concurrency",
};

/** Commits one that waits, and then one that starts though it came later. */
function overtaken(given: GivenControls): void {
  const controls = controlsOf(given);
  const check = new SlotCheck({ at: () => controls, schema: { controls } as never }, {
    isPunctual: false,
  });
  const commit = (row: InvocationRow) => {
    const writes: Write[] = [{ table: "invocation", row, drop: false }];
    check.commit({ writes, since: 0, until: 0, view: undefined, before: undefined, now: 0 });
  };
  commit(invocationRow({ id: "inv_1", status: QUEUED }));
  commit(invocationRow({ id: "inv_2", runningAt: 2 }));
}

test("whatever waits for a limit starts in its order", () => {
  const limits = { concurrency: 2 };
  for (const control of [{ limits }, { handlers: { h: limits } }]) {
    expect(() => overtaken({ services: { s: control } })).toThrow('"inv_1" waits before it');
  }
});

test("limits that limit nothing keep no order, as no limits do", () => {
  overtaken({});
  overtaken({ services: { s: { limits: {} } } });
  overtaken({ services: { s: { handlers: { h: {} } } } });
});

/** Whether one may start that waits in the first of two partitions for a bucket, `home` of which has none. */
function isStartable(
  given: GivenControls,
  { target, counter, home, now }: {
    readonly target?: Partial<InvocationRow["target"]>;
    readonly counter: string;
    readonly home: number;
    readonly now: number;
  },
): boolean {
  const controls = controlsOf(given);
  const all = [0, 1].map(() =>
    new SlotCheck({ at: () => controls, schema: { controls } as never }, { isPunctual: false })
  );
  const row = invocationRow({ id: "inv_1", status: QUEUED });
  const waits = { ...row, target: { ...row.target, ...target } };
  const writes: Write[] = [{ table: "invocation", row: waits, drop: false }];
  const none = { view: undefined, before: undefined };
  all[0]!.commit({ writes, since: 0, until: 0, ...none, now: 0 });
  const bucket = { counter, tokens: 0, at: 5_000, fullAt: 6_000 };
  const buckets = [{ row: bucket, home, now }];
  return all[0]!.startable({ buckets, all, isFar: false }).includes("inv_1");
}

test("a bucket that partitions share gets tokens by the clock of its home", () => {
  const given = { services: { s: { limits: { rate: { count: 1, periodMs: 1_000 } } } } };
  const at = { counter: "service:s", home: 1 };
  expect(isStartable(given, { ...at, now: 5_900 })).toBe(false);
  expect(isStartable(given, { ...at, now: 6_000 })).toBe(true);
});

test("the bucket of a scope that another partition has holds nobody back", () => {
  const given = { rules: { a: { rate: { count: 1, periodMs: 1_000 } } } };
  const at = { target: { scope: "a" }, counter: "scope:a", now: 5_000 };
  expect(isStartable(given, { ...at, home: 0 })).toBe(false);
  expect(isStartable(given, { ...at, home: 1 })).toBe(true);
});
