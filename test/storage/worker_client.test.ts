import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { WorkerClient } from "../../adapters/libsql/file/worker_client.ts";

test("a thread that ends rejects what it has not answered, and all that comes later", async () => {
  const script = "require('node:worker_threads').parentPort.once('message', () => process.exit(1))";
  const client = new WorkerClient(new Worker(script, { eval: true }));
  const select = [{ sql: "select 1", args: [] }];
  const asked = [client.batch("read", select), client.batch("write", select)];
  for (const one of asked) await expect(one).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
  await expect(client.batch("read", select)).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
}, 10_000);

/** Answers how many bytes each buffer has that a request came with. */
const BUFFERS = `
const { parentPort } = require("node:worker_threads");
parentPort.on("message", ({ id, statements = [] }) => {
  const views = statements.flatMap(({ args }) => args).filter(ArrayBuffer.isView);
  const buffers = [...new Set(views.map(({ buffer }) => buffer))];
  parentPort.postMessage({ id, rows: [buffers.map(({ byteLength }) => ({ byteLength }))] });
});`;

test("all bytes of a batch move in one buffer, and the statements keep theirs", async () => {
  const client = new WorkerClient(new Worker(BUFFERS, { eval: true }));
  const pool = new Uint8Array(10_000).fill(7);
  const statements = [
    { sql: "one", args: [pool.subarray(10, 20), "text", pool.subarray(0, 1_000)] },
    { sql: "two", args: [pool.subarray(9_999)] },
  ];
  for (const _again of [1, 2]) {
    expect(await client.batch("write", statements)).toEqual([[{ byteLength: 1_011 }]]);
  }
  expect(await client.batch("write", [{ sql: "none", args: [1] }])).toEqual([[]]);
  await client.close();
});

test("a database stores the bytes of a view, not those around it", async () => {
  const client = await openLibsql({ url: ":memory:" });
  const pool = Uint8Array.from({ length: 300_000 }, (_, at) => at % 251);
  const views = [pool.subarray(3, 3), pool.subarray(1, 4), pool.subarray(7, 200_007)];
  await client.batch("write", [
    { sql: "create table t (a, b, c)", args: [] },
    { sql: "insert into t values (?, ?, ?)", args: views },
  ]);
  const [[row] = []] = await client.batch("read", [{ sql: "select * from t", args: [] }]);
  expect(Object.values(row ?? {})).toEqual(views);
  await client.close();
});
