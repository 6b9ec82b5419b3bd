import { expect, test } from "vitest";
import type { Clock, Statement } from "../../src/ports.ts";
import { encode } from "../../src/storage/codec/row_codec.ts";
import {
  type Background,
  FoldScheduler,
  type FoldSchedulerLimits,
} from "../../src/storage/fold/fold_scheduler.ts";
import { foldSql } from "../../src/storage/fold/sql.ts";
import { Overlay } from "../../src/storage/overlay/overlay.ts";

const LIMITS: FoldSchedulerLimits = {
  sliceRowsMax: 2,
  sliceBytesMax: Infinity,
  rowBytesMax: Infinity,
  foldRowsMax: 4,
  foldBytesMax: Infinity,
  foldIdleMs: 1_000,
};
const SWEEP: Statement = { sql: "sweep", args: [] };

/** A scheduler of partition 1 whose folds are written when the test calls `write`. */
function scheduled(clock?: Clock) {
  const overlay = new Overlay(), begun: Background[] = [];
  let name = 0, place = 100;
  const folds = new FoldScheduler({
    partition: 1,
    logFrom: 100,
    overlay,
    limits: LIMITS,
    clock,
    sweep: () => [SWEEP],
    drop: () => [],
    begin: (background) => begun.push(background),
    finish: () => {},
  });
  const commit = (rows: number) => {
    for (let i = 0; i < rows; i++) {
      const row = { object: "o", name: `${++name}`, value: new Uint8Array([1]) };
      overlay.active.put("state", encode("state", row), { group: "o", item: row.name });
    }
    folds.committed(++place);
  };
  return { folds, overlay, begun, commit };
}

/** Writes all batches of a fold. Returns them; the last one cuts the log. */
function write(background: Background): (readonly Statement[])[] {
  const batches: (readonly Statement[])[] = [];
  while (!batches.at(-1)?.some(({ sql }) => sql === foldSql.logDrop)) {
    batches.push(background.next());
    background.done();
  }
  return batches;
}

test("a full layer is frozen and folded, and the log is cut up to its last commit", () => {
  const { begun, commit, overlay } = scheduled();
  commit(3);
  expect(begun).toHaveLength(0);
  commit(1);
  commit(1);
  expect([begun.length, overlay.frozen?.rows, overlay.active.rows]).toEqual([1, 4, 1]);
  const batches = write(begun[0]!);
  expect(batches).toHaveLength(2);
  expect(batches[0]![0]).toBe(SWEEP);
  expect(batches.flat().filter((statement) => statement === SWEEP)).toHaveLength(1);
  expect(batches[1]!.slice(-2).map(({ args }) => args)).toEqual([[100, 102], [1, 102]]);
  expect([overlay.frozen, begun.length]).toEqual([undefined, 1]);
});

test("batches are longer while rows come faster than they are folded", () => {
  const { begun, commit } = scheduled();
  commit(12);
  const [first] = begun;
  const rowsOf = (batch: readonly Statement[]) =>
    batch.flatMap(({ args }) => args).filter((arg) => typeof arg === "string" && arg[0] === "[")
      .map((arg) => (JSON.parse(String(arg)) as unknown[]).length);
  expect(rowsOf(first!.next())).toEqual([2]);
  first!.done();
  commit(4);
  // The batch after this one was begun already.
  expect(rowsOf(first!.next())).toEqual([2]);
  first!.done();
  expect(rowsOf(first!.next())).toEqual([8]);
  first!.done();
});

test("a layer that fills up during a fold is folded next", () => {
  const { begun, commit } = scheduled();
  commit(4);
  commit(4);
  expect(begun).toHaveLength(1);
  write(begun[0]!);
  expect(begun).toHaveLength(2);
});

test("a fold is urgent at the double limit, and after a commit when the layer is full", () => {
  const { begun, commit } = scheduled();
  commit(4);
  const [background] = begun;
  const urgency = () => [background!.isUrgent(false), background!.isUrgent(true)];
  expect(urgency()).toEqual([false, false]);
  commit(4);
  expect(urgency()).toEqual([false, true]);
  commit(4);
  expect(urgency()).toEqual([true, true]);
});

test("a request to fold all begins a fold, makes it urgent, and waits for its last batch", async () => {
  const { folds, begun, commit } = scheduled();
  await folds.foldAll();
  commit(1);
  let isDone = false;
  const folded = folds.foldAll().then(() => isDone = true);
  expect(begun.map((background) => background.isUrgent(true))).toEqual([true]);
  await Promise.resolve();
  expect(isDone).toBe(false);
  write(begun[0]!);
  await folded;
});

test("a failure rejects requests that wait for a fold, and cancels the idle timer", async () => {
  const alarms = new Set<number>();
  const clock: Clock = {
    now: () => 0,
    at: (due) => {
      alarms.add(due);
      return () => alarms.delete(due);
    },
    soon: (call) => call(),
  };
  const { folds, commit } = scheduled(clock);
  commit(1);
  expect([...alarms]).toEqual([1_000]);
  const folded = folds.foldAll();
  folds.fail(new Error("disk full"));
  await expect(folded).rejects.toThrow("disk full");
  expect([...alarms]).toEqual([]);
});
