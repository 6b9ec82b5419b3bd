import { afterEach, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { Write } from "../../src/model/rows.ts";
import type { SqlClient } from "../../src/ports.ts";
import { ManyStores } from "../../src/storage/many_stores.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";

const clients: SqlClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

/** Three partitions with a database each. */
async function three() {
  for (let i = 0; i < 3; i++) {
    const client = await openLibsql({ url: ":memory:" });
    await migrate(client);
    clients.push(client);
  }
  return new ManyStores(clients.map((client) => new SqlStore(client)).entries());
}

const state = (name: string): Write => ({
  table: "state",
  row: { object: "o/k", name, value: new Uint8Array([1]) },
  drop: false,
});

const READ = [{ sql: "select name from state order by name", args: [] }];
const namesIn = async (client: SqlClient) =>
  (await client.batch("read", READ))[0]?.map(({ name }) => name);

test("rows of a partition are in its own database", async () => {
  const store = await three();
  for (const partition of [0, 1, 2]) {
    const lease = await store.claim(partition);
    expect(lease.partition).toBe(partition);
    await store.commit(lease, [state(`of ${partition}`)]);
    const [found] = await store.load(lease, [{ table: "state", group: "o/k" }]);
    expect(found?.rows).toEqual([state(`of ${partition}`).row]);
    expect(store.backlog(lease).rows).toBe(1);
  }
  await store.flushAll();
  expect(await Promise.all(clients.map(namesIn))).toEqual([["of 0"], ["of 1"], ["of 2"]]);
  await store.close();
});

test("a partition is released by itself, and closing closes all", async () => {
  const store = await three();
  const leases = [await store.claim(0), await store.claim(1)] as const;
  await store.release(1);
  await store.commit(leases[0], [state("a")]);
  await expect(store.commit(leases[1], [state("b")])).rejects.toThrow();
  await store.close();
  await expect(store.commit(leases[0], [state("c")])).rejects.toThrow("closed");
});
