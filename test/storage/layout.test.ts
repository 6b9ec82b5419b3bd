import { afterEach, beforeEach, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { SqlClient } from "../../src/ports.ts";
import {
  ensureLayout,
  ensurePartition,
  readPartition,
  refuseUnfinished,
} from "../../src/storage/schema/layout.ts";
import { begin, finish } from "../../src/storage/move/new_installation.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";

let client: SqlClient;
beforeEach(async () => void (client = await openLibsql({ url: ":memory:" })));
afterEach(() => client.close());

const THREE = { partitions: 3, databases: "each" } as const;
const FIVE = { partitions: 5, databases: "one" } as const;

test("a new installation gets the wanted layout, and keeps it when another one is wanted later", async () => {
  await migrate(client);
  expect(await ensureLayout(client, THREE)).toEqual(THREE);
  expect(await ensureLayout(client, FIVE)).toEqual(THREE);
});

test("data of before there could be several databases is in one", async () => {
  await migrate(client);
  await client.batch("write", [
    { sql: "insert into meta (name, value) values ('partitions', '1')", args: [] },
  ]);
  expect(await ensureLayout(client, THREE)).toEqual({ partitions: 1, databases: "one" });
});

test("a database is one partition's for good, and no other one's", async () => {
  await migrate(client);
  expect(await readPartition(client)).toBeUndefined();
  await ensurePartition(client, 2);
  await ensurePartition(client, 2);
  await expect(ensurePartition(client, 1)).rejects.toMatchObject({ code: "META0011" });
  expect(await readPartition(client)).toBe(2);
});

test("a copy is refused until it is finished, and a database that is not empty is not begun", async () => {
  await begin(client);
  await expect(refuseUnfinished(client)).rejects.toMatchObject({ code: "META0011" });
  await expect(begin(client)).rejects.toMatchObject({ code: "META0011" });
  const of = () => client;
  await finish({ partitions: 1, clients: [client], of, retry: { retryMs: 0 } });
  await refuseUnfinished(client);
  await expect(begin(client)).rejects.toMatchObject({ code: "META0011" });
});
