import { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  DURABLE_STORE_LIMITS,
  DURABLE_VALUE_BYTES_MAX,
} from "../../adapters/workerd/durable_sqlite.ts";
import type { SqlClient, SqlRow, SqlValue } from "../../src/ports.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { storeContract } from "../storage/_contract.ts";
import { sqlDatabase, TINY } from "../storage/_database.ts";
import { bundled, compatibilityDate } from "./_build.ts";
import { type Answered, fromPlain, toPlain } from "./_plain.ts";

let miniflare: Miniflare;
let url: URL;
let databases = 0;
beforeAll(async () => {
  miniflare = new Miniflare({
    modules: [{
      type: "ESModule",
      path: "worker.mjs",
      contents: bundled("test/workerd/_sql_worker.ts"),
    }],
    compatibilityDate: compatibilityDate(),
    durableObjects: { DATABASE: { className: "Database", useSQLite: true } },
    host: "127.0.0.1",
    port: 0,
  });
  url = await miniflare.ready;
}, 30_000);
afterAll(() => miniflare?.dispose());

class Refused extends Error {}

/** A database of a new object, asked from out here. */
function open(): SqlClient {
  const address = new URL(`/${++databases}`, url);
  return {
    async batch(mode, statements) {
      const plain = statements.map(({ sql, args }) => ({ sql, args: args.map(toPlain) }));
      const body = JSON.stringify({ mode, statements: plain });
      const answer = await fetch(address, { method: "POST", body });
      const answered = await answer.json() as Answered;
      if (!("results" in answered)) {
        throw answered.isRefused ? new Refused(answered.message) : new Error(answered.message);
      }
      return answered.results.map((rows) =>
        rows.map((row): SqlRow =>
          Object.fromEntries(Object.entries(row).map(([name, value]) => [name, fromPlain(value)]))
        )
      );
    },
    isRefused: (cause) => cause instanceof Refused,
    close: () => Promise.resolve(),
  };
}

const sql = (text: string, ...args: SqlValue[]) => ({ sql: text, args });

describe("a Durable Object's database is a store", () =>
  storeContract(async () => {
    const client = open();
    await migrate(client);
    return sqlDatabase(client, TINY);
  }, 10));

test("takes and gives values exactly", async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  const values = ["ü\u{1f600}", "", 0, -1.5, 2 ** 53 - 1, null, bytes, new Uint8Array(0)];
  const columns = values.map((_, i) => `?${i + 1} as v${i}`).join(", ");
  const [rows] = await open().batch("read", [sql(`select ${columns}`, ...values)]);
  expect(Object.values(rows?.[0] ?? {})).toEqual(values);
});

test("applies batches whole or not at all", async () => {
  const client = open();
  await client.batch("write", [sql("create table t (n integer primary key, c check (c = 1))")]);
  const insert = (n: number, c: number) => sql("insert into t values (?1, ?2)", n, c);
  const results = await Promise.allSettled([
    client.batch("write", [insert(1, 1)]),
    client.batch("write", [insert(2, 1), insert(3, 0)]),
    client.batch("write", [insert(4, 1), insert(1, 1)]),
  ]);
  const causes = results.map((one) => one.status === "rejected" && one.reason);
  expect(causes.map((cause) => client.isRefused(cause))).toEqual([false, true, false]);
  expect(causes.map(Boolean)).toEqual([false, true, true]);
  const [rows] = await client.batch("read", [sql("select n from t")]);
  expect(rows).toEqual([{ n: 1 }]);
});

test("stores the largest value it promises, beside others, in the log and in the tables", async () => {
  const client = open();
  await migrate(client);
  const store = new SqlStore(client, DURABLE_STORE_LIMITS);
  const lease = await store.claim(0);
  const value = (size: number) => new Uint8Array(size).fill(7);
  const sizes = [100_000, DURABLE_VALUE_BYTES_MAX, 100_000, DURABLE_VALUE_BYTES_MAX];
  const rows = sizes.map((size, i) => ({ object: "o", name: `${i}`, value: value(size) }));
  await store.commit(lease, rows.map((row) => ({ table: "state", row, drop: false })));
  await store.flush(lease);
  const again = new SqlStore(client, DURABLE_STORE_LIMITS);
  const [loaded] = await again.load(await again.claim(0), [{ table: "state", group: "o" }]);
  const lengths = loaded?.rows.map((row) => "value" in row ? row.value.length : -1);
  expect(lengths).toEqual(sizes);
});
