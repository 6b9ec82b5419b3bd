import { expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { Write } from "../../src/model/rows.ts";
import type { SqlClient } from "../../src/ports.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";

const FULL = { name: "SqlError", code: "SQLITE_FULL" };
const group = [{ table: "state", group: "o" } as const];

function put(name: string, size: number): Write<"state"> {
  const value = new Uint8Array(size).fill(name.charCodeAt(0));
  return { table: "state", row: { object: "o", name, value }, drop: false };
}

/** Leaves this many pages to the database: SQLite then says what it says of a full disk. */
async function leave(client: SqlClient, pages: number): Promise<void> {
  const [[row] = []] = await client.batch("read", [{ sql: "pragma page_count", args: [] }]);
  const count = Number(row?.["page_count"]) + pages;
  await client.batch("read", [{ sql: `pragma max_page_count = ${count}`, args: [] }]);
}

async function opened(): Promise<SqlClient> {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  return client;
}

test("a commit that finds the disk full ends the lease; with room, the next one goes on", async () => {
  const client = await opened();
  const store = new SqlStore(client);
  const lease = await store.claim(0);
  await store.commit(lease, [put("a", 10)]);
  await leave(client, 5);
  const full = store.commit(lease, [put("b", 100_000)]);
  const behind = store.commit(lease, [put("c", 1)]);
  await expect(full).rejects.toMatchObject(FULL);
  await expect(behind).rejects.toMatchObject(FULL);
  await expect(store.commit(lease, [put("d", 1)])).rejects.toMatchObject(FULL);
  await expect(store.load(lease, group)).rejects.toMatchObject(FULL);

  await leave(client, 10_000);
  const next = await store.claim(0);
  await store.commit(next, [put("e", 100_000)]);
  await store.flush(next);
  expect((await store.load(next, group))[0]?.rows).toEqual([
    put("a", 10).row,
    put("e", 100_000).row,
  ]);
  await client.close();
});

test("a fold that finds the disk full loses nothing, nor does a claim that does", async () => {
  const client = await opened();
  const store = new SqlStore(client);
  const lease = await store.claim(0);
  await store.commit(lease, [put("a", 100_000)]);
  await leave(client, 0);
  const flushed = store.flush(lease);
  const behind = store.commit(lease, []);
  await expect(flushed).rejects.toMatchObject(FULL);
  await behind.catch((cause) => expect(cause).toMatchObject(FULL));
  await expect(store.commit(lease, [put("b", 1)])).rejects.toMatchObject(FULL);
  await expect(store.claim(0)).rejects.toMatchObject(FULL);

  await leave(client, 10_000);
  const next = await store.claim(0);
  expect((await store.load(next, group))[0]?.rows).toEqual([put("a", 100_000).row]);
  expect(store.pending(next)).toBe(0);
  await client.close();
});
