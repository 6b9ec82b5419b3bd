import { afterEach, beforeEach, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { SqlClient } from "../../src/ports.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { sqlSessionKeyStore } from "../../src/storage/session_key_store.ts";

let client: SqlClient;

beforeEach(async () => {
  client = await openLibsql({ url: ":memory:" });
  await migrate(client);
});
afterEach(() => client.close());

test("the first keys stay, for all processes", async () => {
  expect(await sqlSessionKeyStore(client).read("first")).toBe("first");
  expect(await sqlSessionKeyStore(client).read("second")).toBe("first");
});

test("of processes that replace the same keys, one does", async () => {
  const store = sqlSessionKeyStore(client);
  await store.read("first");
  expect(await store.replace("first", "second")).toBe("second");
  expect(await store.replace("first", "third")).toBe("second");
  expect(await store.read("fourth")).toBe("second");
});
