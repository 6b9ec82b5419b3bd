import { expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { DUMP_VERSION } from "../../src/storage/move/dump.ts";
import { ROW_TABLES } from "../../src/storage/move/row_table.ts";
import { migrate, migrations } from "../../src/storage/schema/migrations.ts";
import { ask } from "./_installations.ts";

/** What a new installation makes for itself, and what is empty when rows move. */
const NOT_MOVED = [
  ...["fence", "kafka_report", "lease", "log", "meta", "node", "outbox", "peer"],
  // Partitions ask for their shares anew.
  ...["share", "bank"],
  // Copies have their bytes in their rows.
  ...["large_piece", "large_unused"],
];

test("every table is moved, with every column that is not made of others", async () => {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  const tables = await ask(client, "select name from sqlite_master where type = 'table'");
  const names = tables.map(({ name }) => String(name)).filter((name) => !name.startsWith("sqlite"));
  const moved = ROW_TABLES.map(({ name }) => name);
  expect(names.filter((name) => !NOT_MOVED.includes(name)).sort()).toEqual([...moved].sort());
  for (const { name, columns, hasPartition, made } of ROW_TABLES) {
    const all = await ask(client, `select * from pragma_table_xinfo('${name}') where hidden = 0`);
    const own = columns.map((column) => [column.name, column.kind, column.isOptional]);
    const itself = all.filter(({ name }) =>
      name !== "partition" && name !== "large" && name !== made?.name
    );
    const is = itself.map((column) => [
      column["name"],
      String(column["type"]).toLowerCase().replace("blob", "bytes"),
      column["notnull"] === 0 && column["pk"] === 0,
    ]);
    expect([name, new Set(own)]).toEqual([name, new Set(is)]);
    expect(all.some((column) => column["name"] === "partition")).toBe(hasPartition);
  }
  await client.close();
});

/** Formats of the database whose rows a dump of that version may hold as they are. */
const DUMPS: Readonly<Record<number, { readonly from: number; readonly to: number }>> = {
  1: { from: 6, to: 18 },
};

test("a dump says of which form its rows are", () => {
  const { from, to } = DUMPS[DUMP_VERSION]!;
  // Does the new migration change a row that moves? Then `DUMP_VERSION` is raised, and dumps of
  // before are brought up to date where they are read. If not, only the range here is widened.
  expect(migrations.length).toBeGreaterThanOrEqual(from);
  expect(migrations.length).toBeLessThanOrEqual(to);
});
