import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { InvocationRow } from "../../src/model/invocation.ts";
import type { Write } from "../../src/model/rows.ts";
import type { SqlClient } from "../../src/ports.ts";
import { Layer } from "../../src/storage/overlay/layer.ts";
import { keysIn, record, replay } from "../../src/storage/log/records.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { invocation } from "./_rows.ts";

const HEAD_BYTES = 7;
const LARGE = 100_000;

/** A journal entry, and its invocation, whose output is a view of the entry as decoding makes it. */
function ended(id: string, size: number): { entry: Write; result: Write; output: Uint8Array } {
  const bytes = Uint8Array.from({ length: HEAD_BYTES + size }, (_, i) => i % 251);
  const output = bytes.subarray(HEAD_BYTES);
  const [row] = fc.sample(invocation, { numRuns: 1, seed: 1 }) as [InvocationRow];
  return {
    entry: {
      table: "journal",
      row: { id, index: 1, at: 1, entry: { kind: "command", type: 1, bytes } },
      drop: false,
    },
    result: { table: "invocation", row: { ...row, id, output }, drop: false },
    output,
  };
}

let client: SqlClient;
beforeEach(async () => {
  client = await openLibsql({ url: ":memory:" });
  await migrate(client);
});
afterEach(() => client.close());

async function logBytes(): Promise<number> {
  const sql = "select sum(octet_length(bytes)) as n from log";
  const [[row] = []] = await client.batch("read", [{ sql, args: [] }]);
  return Number(row?.["n"]);
}

test("a large output is written once to the log, and a recovery finds it", async () => {
  const store = new SqlStore(client);
  const lease = await store.claim(0);
  const [one, two] = [ended("a", LARGE), ended("b", LARGE)];
  // As turns write: invocations, then journals.
  await store.commit(lease, [one.result, two.result, one.entry, two.entry]);
  expect(await logBytes()).toBe(2 * (HEAD_BYTES + LARGE));
  await store.close();
  const next = new SqlStore(client);
  const loaded = await next.load(await next.claim(0), [
    { table: "invocation", group: "a" },
    { table: "journal", group: "a" },
    { table: "invocation", group: "b" },
  ]);
  expect(loaded.map(({ rows: [row] }) => row)).toEqual([
    one.result.row,
    one.entry.row,
    two.result.row,
  ]);
  await next.close();
});

test("rows of any limit are replayed as they were recorded, whatever they share", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(0, 10, 4_095, 4_096, 6_000), { maxLength: 4 }),
      fc.integer({ min: 1, max: 20_000 }),
      fc.boolean(),
      (sizes, rowBytesMax, isJournalFirst) => {
        const all = sizes.map((size, i) => ended(`i${i}`, size));
        const [results, entries] = [all.map(({ result }) => result), all.map(({ entry }) => entry)];
        const writes = isJournalFirst ? [...entries, ...results] : [...results, ...entries];
        const [written, read] = [new Layer(), new Layer()];
        const rows = record(writes, written, { rowBytesMax });
        for (const { rows: text, bytes } of rows) replay({ rows: text, bytes }, read);
        for (const { entry, result } of all) {
          const { id } = result.row as InvocationRow;
          expect(read.singles.invocation.get(id)).toMatchObject({ row: result.row });
          const cells = read.groups.journal.get(id)?.items.values() ?? [];
          expect([...cells]).toMatchObject([{ row: entry.row }]);
        }
        // Whose rows they are is known without the bytes, for people whose log is damaged.
        const named = rows.flatMap(({ rows: text }) => keysIn(new TextEncoder().encode(text)));
        expect(named.toSorted()).toEqual(
          all.flatMap((_, i) => [`invocation i${i}`, `journal i${i}`]).toSorted(),
        );
      },
    ),
    { numRuns: 40 },
  );
});
