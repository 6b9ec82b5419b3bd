import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { Want, Write } from "../../src/model/rows.ts";
import type { SqlClient, SqlValue } from "../../src/ports.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";

let client: SqlClient;
beforeEach(async () => {
  client = await openLibsql({ url: ":memory:" });
  await migrate(client);
});
afterEach(() => client.close());

const sql = (text: string, ...args: SqlValue[]) => client.batch("write", [{ sql: text, args }]);

const entry = (id: string): Write => ({
  table: "journal",
  row: { id, index: 0, at: 5, entry: { kind: "command", type: 1, bytes: Uint8Array.of(1) } },
  drop: false,
});
const promise = (object: string): Write => ({
  table: "promise",
  row: { object, name: "p", listeners: [] },
  drop: false,
});

const damages: Readonly<Record<string, readonly [statement: string, Want]>> = {
  "JSON with a missing brace": [
    "update journal set entries = '[{' where id = 'a'",
    { table: "journal", group: "a" },
  ],
  "text that is not UTF-8": [
    "update journal set entries = cast(x'5bec5d' as text) where id = 'a'",
    { table: "journal", group: "a" },
  ],
  "the content of another key": [
    "update promise set body = (select body from promise where object = 'b') where object = 'a'",
    { table: "promise", group: "a" },
  ],
};

describe.each(Object.entries(damages))("a row that holds %s", (_, [statement, want]) => {
  test("is named by table and key, and others are read", async () => {
    const store = new SqlStore(client);
    const lease = await store.claim(0);
    await store.commit(lease, [entry("a"), entry("b"), promise("a"), promise("b")]);
    await store.flush(lease);
    await sql(statement);
    await expect(store.load(lease, [{ ...want, group: "b" }, want])).rejects.toMatchObject({
      name: "Unreadable",
      code: "RT0028",
      table: want.table,
      group: "a",
      message: expect.stringContaining(`Cannot read ${want.table} "a"`),
    });
    const [found] = await store.load(lease, [{ ...want, group: "b" }]);
    expect(found?.rows).toHaveLength(1);
  });
});
