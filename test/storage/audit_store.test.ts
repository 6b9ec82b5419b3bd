import { afterEach, beforeEach, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { AuditRecord } from "../../src/audit_port.ts";
import type { SqlClient } from "../../src/ports.ts";
import { sqlAuditStore } from "../../src/storage/audit_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { type Fault, lossy } from "./_lossy.ts";

let client: SqlClient;
beforeEach(async () => {
  client = await openLibsql({ url: ":memory:" });
  await migrate(client);
});
afterEach(() => client.close());

const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));
const open = (of = client) => sqlAuditStore(of, { random, retryMs: 1 });

function record(at: number, more: Partial<AuditRecord> = {}): AuditRecord {
  return { at, identity: "ci", method: "PUT", route: "/x", target: {}, status: 200, ...more };
}

async function times(): Promise<number[]> {
  const sql = "select body ->> '$.at' as at from audit order by id";
  const [rows = []] = await client.batch("read", [{ sql, args: [] }]);
  return rows.map(({ at }) => Number(at));
}

test("records of several processes are in the order of time", async () => {
  const [one, two] = [open(), open()];
  await one.add([record(5), record(9)]);
  await two.add([record(7), record(1_800_000_000_000)]);
  await one.add([]);
  await one.add([record(9)]);
  expect(await times()).toEqual([5, 7, 9, 9, 1_800_000_000_000]);
});

test("any text of a target is kept", async () => {
  await open().add([record(1, { target: { key: "nul\0 \ud800 'é' \"" } })]);
  const [[row] = []] = await client.batch("read", [{ sql: "select body from audit", args: [] }]);
  expect(String(row?.["body"])).toContain("é");
});

test("old records go, and the oldest of too many", async () => {
  const store = open();
  await store.add(Array.from({ length: 20 }, (_, at) => record(at)));
  await store.prune({ before: 4, rowsMax: 100 });
  expect((await times())[0]).toBe(4);
  await store.prune({ before: 0, rowsMax: 3 });
  expect(await times()).toEqual([17, 18, 19]);
});

test("a request that was applied and lost adds its records once", async () => {
  const faults: Fault[] = ["unheard", "echo", "lost"];
  const store = open(lossy(client, { fault: () => faults.shift(), delay: () => 1 }));
  await store.add([record(1), record(2)]);
  await store.add([record(3)]);
  expect(await times()).toEqual([1, 2, 3]);
});
