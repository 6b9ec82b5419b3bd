import { afterAll, beforeAll, expect, test } from "vitest";
import { openRemote } from "../../adapters/libsql/remote/open.ts";
import { call, register, send, value } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Sqld, sqldProgram, startSqld } from "../support/sqld.ts";
import { mustRun, runTool, serverOn } from "./_tool.ts";
import { rowsOf, Servers } from "./_servers.ts";

const program = await sqldProgram();
const { at, start } = new Servers();
let endpoint: Endpoint, sqld: Sqld;

beforeAll(async () => {
  if (!program) return;
  [endpoint, sqld] = await Promise.all([startEndpoint("h2"), startSqld(program)]);
});
afterAll(async () => {
  await Promise.all([endpoint?.close(), sqld?.close()]);
});

async function write(sql: string): Promise<void> {
  const client = await openRemote({ url: sqld.url, authToken: "" });
  await client.batch("write", [{ sql, args: [] }]);
  await client.close();
}

const once = { headers: { "idempotency-key": "k" } };
const RT0005 = { end: 1, output: expect.stringMatching(/RT0005.*another process serves it/) };

/** Some of what a server keeps, in a folder that no process has. */
async function fill(folder: string): Promise<void> {
  const server = await start(folder);
  await register(server, endpoint);
  for (let i = 0; i < 30; i++) await value(server, `Counter/c${i}/add`, i);
  await call(server, "Greeter/greet", "once", once);
  await send(server, "Greeter/note", "later", { query: "delay=1h" });
  await server.stop("SIGKILL");
}

test.skipIf(!program)("from a file to a server and back to a file it is the same", async () => {
  await fill(at("file"));
  await mustRun(["reshard", "--to-partitions", "2", "--to", sqld.url, "--base-dir", at("file")]);
  const rows = await rowsOf(at("file"));
  const base = ["--storage.database-url", sqld.url];
  const full = /META0011.*not empty/;
  expect(await runTool(["import", "--from", import.meta.filename, ...base]))
    .toMatchObject({ end: 1, output: expect.stringMatching(/line 1 of the dump/) });
  expect(
    await runTool(["reshard", "--to-partitions=1", "--to", sqld.url, "--base-dir", at("file")]),
  )
    .toMatchObject({ end: 1, output: expect.stringMatching(full) });

  const dump = at("dump");
  await mustRun(["export", "--to", dump, ...base]);
  expect(await runTool(["import", "--from", dump, ...base]))
    .toMatchObject({ end: 1, output: expect.stringMatching(full) });
  const layout = ["--default-num-partitions=3", "--storage.databases=each"];
  await mustRun(["import", "--from", dump, "--base-dir", at("back"), ...layout]);
  expect(await rowsOf(at("back"))).toEqual(rows);

  const settings = { STORAGE__DATABASE_URL: sqld.url };
  const server = await start(at("unused"), settings);
  expect(await call(server, "Greeter/greet", "twice", once)).toMatchObject({ body: "Hello once" });
  expect(await value(server, "Counter/c7/get")).toBe(7);
  await server.stop();

  await write("insert into meta (name, value) values ('state', 'unfinished')");
  expect(await (await serverOn(at("unused"), settings)).rival())
    .toMatchObject({ end: 1, output: expect.stringMatching(/META0011.*not finished/) });
  await write("delete from meta where name = 'state'");

  const fleet = { ...settings, FLEET__SECRET: "x".repeat(20), FLEET__BIND_PORT: "0" };
  const quick = { ...fleet, FLEET__HEARTBEAT_INTERVAL: "100ms" };
  await start(at("unused"), quick);
  const beat = "--fleet.heartbeat-interval=200ms";
  expect(await runTool(["export", "--to", at("no"), beat, ...base])).toMatchObject(RT0005);
}, 60_000);
