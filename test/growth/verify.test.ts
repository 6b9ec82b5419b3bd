import { cpSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLocal } from "../../adapters/libsql/file/local_client.ts";
import { pathToFileURL } from "node:url";
import { call, register, value } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { Servers } from "./_servers.ts";
import { runTool } from "./_tool.ts";

const { at, start } = new Servers();
let endpoint: Endpoint;
let copies = 0;

beforeAll(async () => {
  endpoint = await startEndpoint("h2");
  const server = await start(at("plain"), { STORAGE__FOLD_ROWS: "10" });
  await register(server, endpoint);
  for (let i = 0; i < 20; i++) await value(server, `Counter/k${i % 4}/add`, 1);
  await server.stop("SIGTERM");
  // A start folds what is left in the log.
  await (await start(at("plain"))).stop("SIGTERM");
}, 60_000);
afterAll(() => endpoint.close());

/** A copy of the folder whose database was changed by hand. */
async function damaged(...statements: string[]): Promise<string> {
  const folder = at(`copy-${++copies}`);
  cpSync(at("plain"), folder, { recursive: true });
  const client = await openLocal({ url: pathToFileURL(path.join(folder, "perdure.db")).href });
  await client.batch("write", statements.map((sql) => ({ sql, args: [] })));
  await client.close();
  return folder;
}

/** Flips a bit of a letter, so that the text is not UTF-8. */
const FLIP = `update invocation
  set body = replace(body, '"id":"inv_', cast(x'226964223a22e96e765f' as text))
  where id = (select id from invocation order by id limit 1)`;

test.each(["node", "deno"] as const)(
  "a sound folder is said to be sound, on %s",
  async (runtime) => {
    const { end, output } = await runTool(["verify", "--base-dir", at("plain")], { runtime });
    expect([end, output]).toEqual([
      0,
      expect.stringMatching(/Nothing is missing or damaged: \d+ rows were checked, \d+ a second/),
    ]);
  },
  30_000,
);

test("damage is listed by file, table and key, and the exit code is 1", async () => {
  const folder = await damaged(
    FLIP,
    `update journal set bytes = x'00' where id = (select max(id) from journal)`,
    `insert into inbox (object, seq, id) values ('nowhere', 1, 'inv_none')`,
    "update meta set value = '0' where name = 'deployments'",
  );
  const { end, output } = await runTool(["verify", "--base-dir", folder]);
  expect(end).toBe(1);
  const lines = output.split("\n");
  expect(lines).toEqual(expect.arrayContaining([
    expect.stringMatching(/RT0027.*"perdure.db": it lacks the last 1 changes of deployments/),
    expect.stringMatching(/^perdure.db: invocation "inv_\w+": .*not valid/),
    expect.stringMatching(/^perdure.db: journal "inv_\w+ \d": its bytes do not fit$/),
    expect.stringMatching(/^perdure.db: inbox "nowhere 1": it is no object$/),
    expect.stringMatching(/^Found 4 problems; \d+ rows were checked/),
  ]));
}, 30_000);

test("a large value that lacks a piece or holds other bytes is listed with its table", async () => {
  const folder = await damaged(
    "insert into large_piece values ('0/9/1', 0, x'0102', 1, 1), ('0/9/3', 1, x'0102', 1, 1)",
    `insert into state (object, name, value, large) values
      ('Counter/a', 'changed', x'', '["0/9/1",0,2]'), ('Counter/a', 'gone', x'', '["0/9/2",0,2]'),
      ('Counter/a', 'cut', x'', '["0/9/3",0,2]')`,
  );
  const { end, output } = await runTool(["verify", "--base-dir", folder]);
  expect(end).toBe(1);
  const lines = output.split("\n").filter((line) => line.includes("large value"));
  expect(lines).toEqual(expect.arrayContaining([
    "perdure.db: table state: Cannot read the large value 0/9/1: piece 0 does not match its checksum",
    "perdure.db: table state: the large value 0/9/2 has 0 bytes of 2",
    "perdure.db: table state: Cannot read the large value 0/9/3: piece 0 is missing",
  ]));
}, 30_000);

test("a damaged share or bank of a limit is listed", async () => {
  const folder = await damaged(
    `insert into share values ('0/service:S', '{"partition":1,"counter":"service:S","slots":1}')`,
    `insert into bank values ('service:S', '{"counter":"service:S","given":{"0":-1},"waiting":[]}')`,
  );
  const { end, output } = await runTool(["verify", "--base-dir", folder]);
  expect(end).toBe(1);
  expect(output.split("\n")).toEqual(expect.arrayContaining([
    `perdure.db: share "0/service:S": column "share" is not what its body says`,
    `perdure.db: bank "service:S": its numbers are none`,
  ]));
}, 30_000);

/** Makes the index of those that hold slots find the last invocation, which is completed. */
const HOLD = "update invocation set status = 'invoked' where id = (select max(id) from invocation)";

test.each([
  ["says otherwise", HOLD, /its content says .*completed/],
  ["cannot be decoded", FLIP.replace("order by id", "order by id desc"), /cannot be decoded/],
])(
  "a slot of an invocation whose row %s is not counted, which is logged",
  async (_, change, why) => {
    const folder = await damaged(change, HOLD);
    const server = await start(folder);
    const limited = await fetch(`${server.admin}/services/Counter`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: '{"concurrency": 1}',
    });
    expect(limited.status).toBe(200);
    // A slot that is lost would leave none to this limit.
    expect(await value(server, "Counter/k0/add", 1)).toBe(6);
    const line = server.logs().split("\n").find((line) => line.includes("is counted nowhere"));
    expect(line).toMatch(why);
    expect(line).toMatch(/RT0028/);
    expect(server.logs()).not.toContain("cannot start");
    const id = /inv_\w+/.exec(line ?? "")?.[0];
    const output = await fetch(`${server.ingress}/svc/invocation/${id}/output`);
    expect([output.status, await output.text()]).toEqual([500, expect.stringContaining("RT0028")]);
  },
  30_000,
);

test("a folder without its database is reported, and a folder in use is refused", async () => {
  const server = await start(at("plain"));
  expect((await runTool(["verify", "--base-dir", at("plain")])).output).toMatch(/RT0005/);
  await server.stop("SIGTERM");
}, 30_000);

test("a server answers for every object but the one whose row is damaged", async () => {
  const folder = await damaged(FLIP);
  const [id = ""] = (await runTool(["verify", "--base-dir", folder])).output
    .match(/inv_\w+/) ?? [];
  const server = await start(folder);
  for (let i = 0; i < 4; i++) expect(await value(server, `Counter/k${i}/get`)).toBe(5);
  const attached = await fetch(`${server.ingress}/svc/invocation/${id}/output`);
  expect([attached.status, await attached.text()]).toEqual([
    500,
    expect.stringMatching(new RegExp(`RT0028.*Cannot read invocation .*${id}`)),
  ]);
  expect(await value(server, "Counter/k0/add", 1)).toBe(6);
  expect(server.logs()).toMatch(/Cannot read invocation/);
  expect(server.logs()).not.toContain("starts again");
  expect((await call(server, "Counter/k1/get")).status).toBe(200);
}, 30_000);
