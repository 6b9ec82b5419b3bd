import { expect, test } from "vitest";
import type { Rows, Write } from "../../src/model/rows.ts";
import type { Layout } from "../../src/storage/schema/layout.ts";
import { checkRow } from "../../src/storage/move/check_row.ts";
import { exportRows } from "../../src/storage/move/export_rows.ts";
import { importRows } from "../../src/storage/move/import_rows.ts";
import type { Installation } from "../../src/storage/move/installation.ts";
import { checkRows, moveRows } from "../../src/storage/move/move_rows.ts";
import { rowTable } from "../../src/storage/move/row_table.ts";
import { ManyStores } from "../../src/storage/many_stores.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { ask, close, newInstallation, silent } from "./_installations.ts";

const SOURCE = { subscription: "sub_1a", group: "my/group", topic: "t", partition: 4 };
const THREE: Layout = { partitions: 3, databases: "each" };
const TWO: Layout = { partitions: 2, databases: "one" };

const rowOf = (home: number, next: number, more: Partial<Rows["source"]> = {}): Rows["source"] => ({
  home,
  source: SOURCE,
  next,
  settled: 0,
  ...more,
});

/** An installation whose partitions have these rows. */
async function filled(layout: Layout, rows: readonly Rows["source"][]): Promise<Installation> {
  const { installation } = await newInstallation(layout, 0);
  const stores = installation.clients.map((client) => new SqlStore(client));
  const [only] = stores;
  const store = stores.length === 1 && only ? only : new ManyStores(stores.entries());
  for (let home = 0; home < layout.partitions; home++) {
    const lease = await store.claim(home);
    const writes = rows.filter((row) => row.home === home)
      .map((row): Write => ({ table: "source", row, drop: false }));
    await store.commit(lease, writes);
  }
  await store.flushAll();
  await store.close();
  return installation;
}

async function sourcesIn({ clients }: Installation): Promise<Rows["source"][]> {
  const found = await Promise.all(clients.map((client) => ask(client, "select * from source")));
  const rows = found.flat().map((row) => {
    checkRow(rowTable("source")!, row);
    return JSON.parse(String(row["body"])) as Rows["source"];
  });
  return rows.sort((a, b) => a.home - b.home || a.source.topic.localeCompare(b.source.topic));
}

const OLD = [
  // Partition 1 lacks the last batch, which begins at 20; 2 has never had a record.
  rowOf(0, 25, { settled: 20 }),
  rowOf(1, 12, { settled: 10 }),
];

test("new partitions begin where all old ones were, and know how far each was", async () => {
  const from = await filled(THREE, OLD);
  const { installation, writer } = await newInstallation(TWO, 1);
  await checkRows(installation, await moveRows(from, writer, silent), silent);
  const earlier = [[25, 12, 0]];
  const moved = [0, 1].map((home) => rowOf(home, 20, { settled: 20, earlier }));
  expect(await sourcesIn(installation)).toEqual(moved);

  // Once more, before anything comes: nothing is added.
  const next = await newInstallation(THREE, 2);
  await checkRows(next.installation, await moveRows(installation, next.writer, silent), silent);
  expect(await sourcesIn(next.installation))
    .toEqual([0, 1, 2].map((home) => ({ ...moved[0], home })));
  await Promise.all([from, installation, next.installation].map(close));
});

test("sources are told apart, and what all partitions have passed is forgotten", async () => {
  const other = { ...SOURCE, topic: "u" };
  const from = await filled(TWO, [
    ...OLD,
    rowOf(0, 9, { source: other, settled: 9, earlier: [[7, 3, 9]] }),
    rowOf(1, 6, { source: other, settled: 5, earlier: [[7, 3, 9]] }),
  ]);
  const { installation, writer } = await newInstallation({ partitions: 1, databases: "one" }, 1);
  await checkRows(installation, await moveRows(from, writer, silent), silent);
  expect(await sourcesIn(installation)).toEqual([
    rowOf(0, 20, { settled: 20, earlier: [[25, 12]] }),
    rowOf(0, 9, { source: other, settled: 9 }),
  ]);
  await Promise.all([from, installation].map(close));
});

test("a dump has them, whatever the number of partitions is into which it is read", async () => {
  const from = await filled(THREE, OLD);
  const { installation, writer } = await newInstallation(TWO, 8);
  const dump = exportRows(from, { madeBy: "1.2.3", epoch: 7 }, silent);
  const bytes = async function* () {
    for await (const chunk of dump) yield new TextEncoder().encode(chunk);
  };
  const begin = () => Promise.resolve(writer);
  await checkRows(installation, await importRows(bytes(), { begin, progress: silent }), silent);
  const earlier = [[25, 12, 0]];
  expect(await sourcesIn(installation))
    .toEqual([0, 1].map((home) => rowOf(home, 20, { settled: 20, earlier })));
  await Promise.all([from, installation].map(close));
});

test.each([
  ["another key", { source: "1/sub_1a/4/t/my/group" }, /column "source" is not what/],
  ["no offsets", { body: JSON.stringify({ ...rowOf(0, 5), next: null }) }, /offsets/],
  ["no earlier ones", { body: JSON.stringify({ ...rowOf(0, 5), earlier: [7] }) }, /offsets/],
  ["no source", { body: JSON.stringify({ home: 0, next: 1, settled: 1 }) }, /no source/],
])("a row with %s does not pass the check", (_, wrong, message) => {
  const fit = { source: "0/sub_1a/4/t/my/group", body: JSON.stringify(rowOf(0, 5)) };
  checkRow(rowTable("source")!, fit);
  expect(() => checkRow(rowTable("source")!, { ...fit, ...wrong })).toThrow(message);
});

test("a moved invocation is known to be of its subscription", async () => {
  const { installation, writer } = await newInstallation(TWO, 1);
  const table = rowTable("invocation")!;
  const origins = { a: { by: "subscription", id: "sub_1a" }, b: { by: "ingress" } };
  for (const [name, origin] of Object.entries(origins)) {
    const id = `inv_1${name}${"0".repeat(32)}`;
    const body = JSON.stringify({ id, origin, note: '"by":"subscription"' });
    await writer.add(table, { id, status: "invoked", body });
  }
  await writer.flush();
  expect(await ask(installation.of(0), "select subscription from invocation order by id"))
    .toEqual([{ subscription: "sub_1a" }, { subscription: null }]);
  await close(installation);
});
