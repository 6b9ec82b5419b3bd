import { expect, test } from "vitest";
import { createClient } from "@libsql/client/sqlite3";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openLibsql } from "../../adapters/libsql.ts";
import { openLocal } from "../../adapters/libsql_client.ts";
import type { InvocationRow } from "../../src/model/invocation.ts";
import type { Deployment } from "../../src/model/schema.ts";
import { sqlDeploymentStore } from "../../src/storage/deployment_store.ts";
import { foldSql } from "../../src/storage/fold_sql.ts";
import { loadSql, scanSql } from "../../src/storage/read_sql.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/tables.ts";

const sql = (text: string, ...args: (string | number | null)[]) => ({ sql: text, args });

test("a database is filled once, and opened again as it is", async () => {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  await client.batch("write", [sql("insert into deployment values ('d', '{}')")]);
  await migrate(client);
  const [rows] = await client.batch("read", [sql("select count(*) as n from deployment")]);
  expect(rows).toEqual([{ n: 1 }]);
  await client.close();
});

test("a newer format and a stranger's database are refused", async () => {
  const newer = await openLibsql({ url: ":memory:" });
  await migrate(newer);
  await newer.batch("write", [sql("update meta set value = '99'")]);
  await expect(migrate(newer)).rejects.toMatchObject({ code: "META0010" });
  await newer.close();
  const strange = await openLibsql({ url: ":memory:" });
  await strange.batch("write", [sql("create table notes (text)")]);
  await expect(migrate(strange)).rejects.toMatchObject({ code: "RT0009" });
  await strange.close();
});

test("no query of the store reads a whole table", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tables-"));
  const url = pathToFileURL(join(folder, "a.db")).href;
  const client = await openLocal({ url });
  await migrate(client);
  await client.close();
  // Outside of a transaction: SQLite counts an explained write as one that never ends.
  const plain = createClient({ url });
  for (const [name, text] of Object.entries({ ...foldSql, ...loadSql, ...scanSql })) {
    const args = Array.from({ length: Math.max(...numbers(text)) }, () => "[]");
    const { rows } = await plain.execute({ sql: `explain query plan ${text}`, args });
    const scans = rows.map(({ detail }) => String(detail))
      .filter((detail) => /^SCAN /.test(detail) && !/json_each|^SCAN w\b|freelist/.test(detail));
    expect(scans, name).toEqual([]);
  }
  plain.close();
  await rm(folder, { recursive: true });
});

const completed: InvocationRow = {
  id: "inv_1x",
  target: { service: "greeter", handler: "greet", type: "service", access: "none" },
  status: { kind: "completed" },
  origin: { by: "ingress" },
  attempt: 1,
  heard: 0,
  journal: 0,
  commands: 0,
  failures: 0,
  failuresSinceCommand: 0,
  callers: [],
  retention: { resultMs: 0, journalMs: 0 },
  createdAt: 17,
  modifiedAt: 18,
  output: new Uint8Array([104, 105]),
};

test("what was folded can be read by people", async () => {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  const store = new SqlStore(client);
  const lease = await store.claim(0);
  await store.commit(lease, [{ table: "invocation", drop: false, row: completed }]);
  await store.flush(lease);
  const [rows, log] = await client.batch("read", [
    sql(`select id, status, service, handler, key, created_at, modified_at, expires_at,
      body ->> '$.origin.by' as origin, cast(output as text) as output from invocation`),
    sql("select count(*) as n from log"),
  ]);
  expect(rows).toEqual([{
    id: "inv_1x",
    status: "completed",
    service: "greeter",
    handler: "greet",
    key: null,
    created_at: 17,
    modified_at: 18,
    expires_at: null,
    origin: "ingress",
    output: "hi",
  }]);
  expect(log).toEqual([{ n: 0 }]);
  await client.close();
});

test("deployments are saved, replaced, dropped and loaded", async () => {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  const store = sqlDeploymentStore(client);
  const deployment = (id: string, uri: string): Deployment => ({
    id,
    uri,
    mode: "bidi",
    httpVersion: "HTTP/2.0",
    dialect: "svc",
    additionalHeaders: { "x-a": "nul\0 \ud800" },
    metadata: {},
    minProtocol: 5,
    maxProtocol: 6,
    createdAt: 1,
    services: [],
  });
  await store.save(deployment("dp_1", "http://one/"));
  await store.save(deployment("dp_2", "http://two/"));
  await store.save(deployment("dp_1", "http://three/"));
  expect(await store.load()).toEqual([
    deployment("dp_1", "http://three/"),
    deployment("dp_2", "http://two/"),
  ]);
  await store.drop("dp_1");
  expect((await store.load()).map(({ id }) => id)).toEqual(["dp_2"]);
  await client.close();
});

function numbers(text: string): number[] {
  return [...text.matchAll(/\?(\d)/g)].map(([, digit]) => Number(digit)).concat(0);
}
