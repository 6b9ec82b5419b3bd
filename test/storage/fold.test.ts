import { expect, test } from "vitest";
import type { Rows, Table } from "../../src/model/rows.ts";
import { groupOf, itemOf } from "../../src/model/rows.ts";
import { fold, type FoldLimits } from "../../src/storage/fold/fold.ts";
import { foldSql } from "../../src/storage/fold/sql.ts";
import { Layer } from "../../src/storage/overlay/layer.ts";
import { encode } from "../../src/storage/codec/row_codec.ts";
import { invocationRow } from "../support/rows.ts";

const BYTES = 1_000;
const NO_LIMITS: FoldLimits = {
  sliceRowsMax: Infinity,
  sliceBytesMax: Infinity,
  rowBytesMax: Infinity,
};

function put<T extends Table>(layer: Layer, table: T, row: Rows[T]): void {
  layer.put(table, encode(table, row), { group: groupOf(table, row), item: itemOf(table, row) });
}

/** A layer with a journal of so many entries, and as many values of state. */
function filled(count: number): Layer {
  const layer = new Layer();
  for (let index = 0; index < count; index++) {
    const bytes = new Uint8Array(BYTES);
    put(layer, "journal", { id: "inv", index, at: 1, entry: { kind: "command", type: 9, bytes } });
    put(layer, "state", { object: "o/k", name: `${index}`, value: bytes });
  }
  return layer;
}

const batches = (count: number, limits: Partial<FoldLimits>) => [
  ...fold(filled(count), { ...NO_LIMITS, ...limits, partition: 0, recovered: false }),
];

/** Bytes that a batch binds. */
const sizeOf = (batch: ReturnType<typeof batches>[number]) =>
  batch.flatMap(({ args }) => args).reduce<number>(
    (sum, arg) => sum + (arg instanceof Uint8Array ? arg.length : 0),
    0,
  );

test("without limits a fold is one batch", () => {
  expect(batches(30, {})).toHaveLength(1);
});

test("a batch ends with the row that reaches the limit of bytes", () => {
  const sliceBytesMax = 5 * BYTES, rowBytesMax = BYTES;
  const sizes = batches(30, { sliceBytesMax, rowBytesMax }).map(sizeOf);
  expect(sizes.length).toBeGreaterThanOrEqual(10);
  // One row more than the limit, and what stands beside the bytes.
  for (const size of sizes) expect(size).toBeLessThan(sliceBytesMax + 2 * BYTES);
});

test("a batch ends with the row that reaches the limit of rows", () => {
  // A journal without limits is one segment, and so one batch; then six values each.
  expect(batches(30, { sliceRowsMax: 6 })).toHaveLength(1 + 5);
});

test("a long journal is folded in batches that commits can go between", () => {
  const limits = { sliceRowsMax: 250, sliceBytesMax: 512 * 1024, rowBytesMax: 1024 * 1024 };
  const journal = filled(1_000);
  journal.groups.state.clear();
  const sizes = [...fold(journal, { ...limits, partition: 0, recovered: false })].map(sizeOf);
  for (const size of sizes) expect(size).toBeLessThan(400 * 1024);
  expect(sizes.length).toBeGreaterThan(3);
});

test("a journal is cut into segments that stay below the limit of a row", () => {
  const segments = batches(30, { rowBytesMax: 4 * BYTES }).flat()
    .filter(({ sql }) => sql === foldSql.journalPut)
    .flatMap(({ args: [json] }) => JSON.parse(String(json)) as unknown[][]);
  expect(segments.map(([, first]) => first)).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24, 27]);
});

test("the entries of a segment are in order, whatever order they were written in", () => {
  const layer = new Layer();
  for (const index of [2, 0, 1]) {
    const entry = { kind: "command", type: index, bytes: new Uint8Array(1) } as const;
    put(layer, "journal", { id: "inv", index, at: 1, entry });
  }
  const [segment] = [...fold(layer, { ...NO_LIMITS, partition: 0, recovered: true })].flat()
    .filter(({ sql }) => sql === foldSql.journalPut);
  const entries = JSON.parse(new TextDecoder().decode(segment?.args[1] as Uint8Array)) as object[];
  expect(entries).toMatchObject([{ index: 0 }, { index: 1 }, { index: 2 }]);
});

test("invocations that wait for timers are written in the order in which these are due", () => {
  const layer = new Layer();
  const dues = { inv_a: 300, inv_b: undefined, inv_c: 100, inv_d: 200 };
  for (const [id, due] of Object.entries(dues)) {
    put(layer, "invocation", invocationRow({ id }));
    const entry = { kind: "command", type: 9, bytes: new Uint8Array(1) } as const;
    put(layer, "journal", { id, index: 0, at: 1, entry });
    if (due === undefined) continue;
    for (const index of [2, 1]) {
      put(layer, "timer", { id, due: due * index, kind: "sleep", index });
    }
  }
  const statements = [...fold(layer, { ...NO_LIMITS, partition: 0, recovered: false })].flat();
  for (const query of [foldSql.invocationPut, foldSql.journalPut]) {
    const [rows] = statements.find(({ sql }) => sql === query)?.args ?? [];
    const ids = (JSON.parse(String(rows)) as unknown[][]).map(([id]) => id);
    expect(ids).toEqual(["inv_b", "inv_c", "inv_d", "inv_a"]);
  }
});
