import type { SqlClient } from "../../src/ports.ts";
import { expect, test } from "vitest";
import { createClient } from "@libsql/client/sqlite3";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { openLocal } from "../../adapters/libsql/file/local_client.ts";
import { clock } from "../../adapters/platform/clock.ts";
import type { Awaiting, InvocationRow } from "../../src/model/invocation.ts";
import type { Rows, Write } from "../../src/model/rows.ts";
import type { Deployment, ServiceSchema } from "../../src/model/schema.ts";
import { sqlDeploymentStore } from "../../src/storage/deployment_store.ts";
import { foldSql } from "../../src/storage/fold/sql.ts";
import { condemn, dropCondemned } from "../../src/storage/large/unused.ts";
import { loadSql, scanSql } from "../../src/storage/read/sql.ts";
import { toJson } from "../../src/storage/codec/safe_text.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { migrate, migrations } from "../../src/storage/schema/migrations.ts";
import { invocationRow } from "../support/rows.ts";

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

test("a newer format and a database of another program are refused", async () => {
  for (const format of [migrations.length + 1, 99]) {
    const newer = await openLibsql({ url: ":memory:" });
    await migrate(newer);
    await newer.batch("write", [
      sql("update meta set value = ?1 where name = 'format'", `${format}`),
    ]);
    await expect(migrate(newer)).rejects.toMatchObject({ code: "META0010" });
    await newer.close();
  }
  const strange = await openLibsql({ url: ":memory:" });
  await strange.batch("write", [sql("create table notes (text)")]);
  await expect(migrate(strange)).rejects.toMatchObject({ code: "RT0009" });
  await strange.close();
});

test("two processes that create a database at once both succeed", async () => {
  const client = await openLibsql({ url: ":memory:" });
  // The other process is done between our read of the version and our own attempt.
  let isFirst = true;
  const pending: SqlClient = {
    batch: async (mode, statements) => {
      if (mode === "write" && isFirst) {
        isFirst = false;
        await migrate(client);
      }
      return await client.batch(mode, statements);
    },
    isRefused: (cause) => client.isRefused(cause),
    close: () => client.close(),
  };
  await migrate(pending);
  await sqlDeploymentStore(pending).load();
  await client.close();
});

async function fillVersion1(client: SqlClient, body: (id: string) => string): Promise<void> {
  await client.batch("write", [
    sql("create table meta (name text primary key, value text)"),
    sql("insert into meta values ('format', '1')"),
    ...(migrations[0] ?? []).map((text) => sql(text)),
    sql("insert into state values ('Flow/k', 'name', x'01')"),
    sql("insert into lease values (0, 7)"),
    sql("insert into invocation values ('a', 0, 'suspended', null, ?1, null)", body("a")),
    sql("insert into log values (1, 0, ?1, null, 1)", `[["invocation",${body("b")},null]]`),
  ]);
}

test("a database of format version 1 is brought up to date, with its rows and its log", async () => {
  const client = await openLibsql({ url: ":memory:" });
  const waits = { completions: [1], signals: [1], names: [`"awaiting":{"completions":`] };
  const body = (id: string) =>
    toJson({ ...completed, id, output: undefined, status: { kind: "suspended", awaiting: waits } });
  await fillVersion1(client, body);
  await migrate(client);
  await migrate(client);
  const store = new SqlStore(client);
  const lease = await store.claim(0);
  expect(lease.epoch).toBe(8);
  const found = await store.load(lease, [
    { table: "invocation", group: "a" },
    { table: "invocation", group: "b" },
    { table: "state", group: "Flow/k" },
    { table: "promise", group: "Flow/k" },
  ]);
  const { output: _, ...rest } = completed;
  const status = { kind: "suspended", awaiting: { kind: "unknown", ...waits } };
  expect(found.map(({ rows }) => rows)).toEqual([
    [{ ...rest, id: "a", status }],
    [{ ...rest, id: "b", status }],
    [{ object: "Flow/k", name: "name", value: Uint8Array.of(1) }],
    [],
  ]);
  const [facts] = await client.batch("read", [
    sql("select value, created_at from meta, invocation where name = 'format' and id = 'a'"),
  ]);
  expect(facts).toEqual([{ value: String(migrations.length), created_at: 17 }]);
  await client.close();
});

test("no query of the store reads a whole table", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tables-"));
  const url = pathToFileURL(join(folder, "a.db")).href;
  const client = await openLocal({ url });
  await migrate(client);
  await client.close();
  // Outside of a transaction: SQLite counts an explained write as one that never ends.
  const plain = createClient({ url });
  const unused = [...condemn(0, { given: ["a"], kept: ["b"] }), ...dropCondemned(0, 1)];
  const unusedSql = Object.fromEntries(unused.map((one, at) => [`unused ${at}`, one.sql]));
  const texts = { ...foldSql, ...loadSql, ...scanSql, ...unusedSql };
  for (const [name, text] of Object.entries(texts)) {
    const args = Array.from({ length: Math.max(...numbers(text)) }, () => "[]");
    const { rows } = await plain.execute({ sql: `explain query plan ${text}`, args });
    const scans = rows.map(({ detail }) => String(detail))
      .filter((detail) => /^SCAN /.test(detail) && !/json_each|^SCAN w\b|freelist/.test(detail));
    expect(scans, name).toEqual([]);
  }
  plain.close();
  await rm(folder, { recursive: true });
});

const completed = invocationRow({
  id: "inv_1x",
  target: { service: "greeter", handler: "greet", type: "service", access: "none" },
  status: { kind: "completed" },
  createdAt: 17,
  modifiedAt: 18,
  output: new Uint8Array([104, 105]),
});

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

test("durable promises can be read by people", async () => {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  const store = new SqlStore(client);
  const lease = await store.claim(0);
  const of = (name: string, rest: Partial<Rows["promise"]>): Write => ({
    table: "promise",
    row: { object: "Flow/a/b", name, listeners: [], ...rest },
    drop: false,
  });
  const failure = { code: 409, message: "no", metadata: [["a", "b"]] } as const;
  await store.commit(lease, [
    of("open", { listeners: [{ id: "inv_1x", completion: 3, type: 0x8009 }] }),
    of("kept", { result: { kind: "value", value: Uint8Array.of(104, 105) } }),
    of("empty", { result: { kind: "value", value: new Uint8Array(0) } }),
    of("broken", { result: { kind: "failure", failure } }),
  ]);
  await store.flush(lease);
  const [rows] = await client.batch("read", [
    sql(`select service, key, name, result, cast(value as text) as value,
      body ->> '$.result.failure.message' as failure, body ->> '$.listeners[0].id' as listener
      from promise order by name`),
  ]);
  const row = { service: "Flow", key: "a/b", value: null, failure: null, listener: null };
  expect(rows).toEqual([
    { ...row, name: "broken", result: "failure", failure: "no" },
    { ...row, name: "empty", result: "value", value: "" },
    { ...row, name: "kept", result: "value", value: "hi" },
    { ...row, name: "open", result: null, listener: "inv_1x" },
  ]);
  await client.close();
});

test("an awaited tree may be deeper than SQLite reads JSON", async () => {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  const store = new SqlStore(client);
  const lease = await store.claim(0);
  let awaiting: Awaiting = { kind: "all", completions: [1], signals: [], names: [] };
  for (let depth = 0; depth < 1000; depth++) awaiting = { ...awaiting, nested: [awaiting] };
  const row: InvocationRow = { ...completed, status: { kind: "suspended", awaiting } };
  await store.commit(lease, [{ table: "invocation", drop: false, row }]);
  await store.flush(lease);
  const [rows] = await client.batch("read", [sql("select service, status from invocation")]);
  expect(rows).toEqual([{ service: "greeter", status: "suspended" }]);
  await client.close();
});

test("a deployment of many services is encoded with pauses, and read as it was", async () => {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  let pauses = 0;
  const soon = (call: () => void) => (pauses++, setImmediate(call));
  const store = sqlDeploymentStore(client, { clock: { ...clock, soon }, retryMs: 0 });
  const names = Array.from({ length: 300 }, (_, at) => `nul\0 \ud800 \ue000 "${at}"`);
  const services = names.map((name): ServiceSchema => ({
    name,
    type: "service",
    deployment: "dp_1",
    revision: 1,
    public: true,
    options: {},
    handlers: { [name]: { name, access: "none", public: true, options: {}, documentation: name } },
  }));
  await store.save({ ...deployment("dp_1", "http://one/"), services });
  expect(pauses).toBeGreaterThan(15);
  expect((await store.load()).deployments[0]?.services).toEqual(services);
  await client.close();
});

test("deployments are saved, replaced, dropped and loaded", async () => {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  const store = sqlDeploymentStore(client);
  await store.save(deployment("dp_1", "http://one/"));
  await store.save(deployment("dp_2", "http://two/"));
  await store.save(deployment("dp_1", "http://three/"));
  expect((await store.load()).deployments).toEqual([
    deployment("dp_1", "http://three/"),
    deployment("dp_2", "http://two/"),
  ]);
  await store.drop("dp_1");
  expect((await store.load()).deployments.map(({ id }) => id)).toEqual(["dp_2"]);
  await client.close();
});

function deployment(id: string, uri: string): Deployment {
  return {
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
  };
}

function numbers(text: string): number[] {
  return [...text.matchAll(/\?(\d)/g)].map(([, digit]) => Number(digit)).concat(0);
}
