import Database from "libsql";
import { copyFileSync, mkdirSync, renameSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { errors } from "../../src/error_codes.ts";
import { FORMAT_VERSION, migrations } from "../../src/storage/schema/migrations.ts";
import { call, query, register, send, value } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { keep, keptFormats, restore } from "./_kept.ts";
import { Servers } from "./_servers.ts";

let endpoint: Endpoint;
const { at, start } = new Servers();

beforeAll(async () => {
  endpoint = await startEndpoint("h2");
});
afterAll(() => endpoint.close());

/** Makes the database of a stopped server one of an earlier format, with the same rows. */
function makeEarlier(folder: string, format: number): void {
  const later = `${folder} later`;
  renameSync(folder, later);
  mkdirSync(folder, { mode: 0o700 });
  for (const name of ["perdure.json", "perdure.marks"]) {
    copyFileSync(path.join(later, name), path.join(folder, name));
  }
  const database = new Database(path.join(folder, "perdure.db"));
  const columnsOf = (table: string) =>
    (database.prepare(`pragma table_info(${table})`).all([]) as { name: string }[])
      .map(({ name }) => name).join();
  database.exec("pragma auto_vacuum = incremental; pragma journal_mode = wal");
  database.exec("create table meta (name text primary key, value text)");
  for (const statement of migrations.slice(0, format).flat()) database.exec(statement);
  const tables = database.prepare(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'",
  ).all([]) as { name: string }[];
  database.exec(`attach '${path.join(later, "perdure.db")}' as later; delete from meta`);
  for (const { name } of tables) {
    const columns = columnsOf(name);
    database.exec(`insert into ${name} (${columns}) select ${columns} from later.${name}`);
  }
  database.exec(setFormat(format));
  database.close();
}

function change(folder: string, statement: string): void {
  const database = new Database(path.join(folder, "perdure.db"));
  database.exec(statement);
  database.close();
}

const setFormat = (format: number) => `update meta set value = '${format}' where name = 'format'`;

test.each([5, 7, FORMAT_VERSION - 1])(
  "a folder of format %i is brought to the current one, and its calls in flight go on",
  async (format) => {
    const name = `from ${format}`;
    const before = await start(at(name));
    await register(before, endpoint);
    const headers = { "idempotency-key": name };
    const nap = { id: name, ms: 2_000 };
    await send(before, "Greeter/nap", nap, { headers });
    await endpoint.happens(`${name} asleep`);
    expect(await before.stop("SIGTERM")).toBe(0);
    makeEarlier(at(name), format);
    const after = await start(at(name));
    const { status } = await call(after, "Greeter/nap", nap, { headers });
    expect(status).toBe(200);
    expect([endpoint.count(`${name} before`), endpoint.count(`${name} after`)]).toEqual([1, 1]);
  },
  60_000,
);

const KEY = { headers: { "idempotency-key": "kept" }, query: "delay=36500d" };

// What is kept in `kept/`: run it with KEEP_FORMAT=1 before a version with a new format is released.
test.runIf(process.env["KEEP_FORMAT"])("a folder of this format is kept", async () => {
  const server = await start(at("kept"));
  await register(server, endpoint);
  expect(await value(server, "Counter/kept/add", 42)).toBe(42);
  await send(server, "Greeter/greet", "Ada", KEY);
  expect(await server.stop("SIGTERM")).toBe(0);
  keep(at("kept"), FORMAT_VERSION);
  makeEarlier(at("kept"), FORMAT_VERSION - 1);
  if (!keptFormats().includes(FORMAT_VERSION - 1)) keep(at("kept"), FORMAT_VERSION - 1);
});

test("a folder of this format and one of the format before are kept", () => {
  expect(keptFormats()).toEqual(expect.arrayContaining([FORMAT_VERSION - 1, FORMAT_VERSION]));
});

test.each(keptFormats())(
  "a kept folder of format %i is opened, with all that is in it",
  async (format) => {
    restore(format, at(`kept ${format}`));
    const server = await start(at(`kept ${format}`));
    expect(await query(server, "select value_utf8 from state")).toEqual([{ value_utf8: "42" }]);
    const [scheduled] = await query(
      server,
      "select id from sys_invocation where status = 'scheduled'",
    );
    const { body } = await send(server, "Greeter/greet", "Ada", KEY);
    expect(body).toMatchObject({ invocationId: scheduled?.["id"], status: "PreviouslyAccepted" });
    // Its endpoint was another one. What was there goes on with this one.
    await register(server, endpoint);
    expect(await value(server, "Counter/kept/add", 1)).toBe(43);
  },
  30_000,
);

test("a folder of a later format is refused, and left as it is", async () => {
  const later = FORMAT_VERSION + 1;
  const server = await start(at("later"));
  await server.stop("SIGTERM");
  change(at("later"), setFormat(later));
  const { end, output } = await server.rival();
  expect([end, output]).toEqual([1, expect.stringContaining(`its format is ${later}`)]);
  expect(output).toMatch(/^\[META0010\]/m);
  expect(output).toContain(errors.META0010.fix);
  change(at("later"), setFormat(FORMAT_VERSION));
  await server.start();
});
