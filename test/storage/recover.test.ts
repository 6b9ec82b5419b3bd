import { expect, test } from "vitest";
import type { Write } from "../../src/model/rows.ts";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { own } from "./_contract.ts";
import { sqlDatabase } from "./_database.ts";

const entry = (index: number, drop = false): Write => ({
  table: "journal",
  row: {
    id: "i1",
    index,
    at: index,
    entry: { kind: "command", type: 1, bytes: new Uint8Array(8) },
  },
  drop,
});

test("a recovery folds a commit of many rows of the log as a whole", async () => {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  // One write is one row of the log, and the log is read in pages of fewer rows than the commit has.
  const database = sqlDatabase(client, { rowBytesMax: 1 });
  const { store, lease } = await own(database);
  const entries = Array.from({ length: 100 }, (_, index) => entry(index));
  await store.commit(lease, entries);
  await database.flush?.(store, lease);
  const [first, ...others] = entries.map(({ row }) => row);
  await store.commit(lease, [entry(0), ...others.map((_, i) => entry(i + 1, true))]);
  const next = await own(sqlDatabase(client, { foldRowsMax: 1 }));
  const [found] = await next.store.load(next.lease, [{ table: "journal", group: "i1" }]);
  expect(found?.rows).toEqual([first]);
  await database.close();
});

test("a row of the log that is larger than a page is read by itself", async () => {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  const database = sqlDatabase(client, { foldBytesMax: Infinity });
  const { store, lease } = await own(database);
  const state = (name: string, size: number): Write => ({
    table: "state",
    row: { object: "o/k", name, value: new Uint8Array(size) },
    drop: false,
  });
  await store.commit(lease, [state("a", 1)]);
  // Pages are 16 MiB.
  await store.commit(lease, [state("b", 17 * 1024 * 1024)]);
  await store.commit(lease, [state("c", 1)]);
  const next = await own(database);
  const [found] = await next.store.load(next.lease, [{ table: "state", group: "o/k" }]);
  const sizes = found?.rows.map((row) => [(row as { name: string }).name, sizeOf(row)]);
  expect(sizes).toEqual([["a", 1], ["b", 17 * 1024 * 1024], ["c", 1]]);
  await database.close();
});

const sizeOf = (row: unknown) => (row as { readonly value: Uint8Array }).value.length;
