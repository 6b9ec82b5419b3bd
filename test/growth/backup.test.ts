import { existsSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../support/child.ts";
import { call, query, register, send, value } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import type { Server } from "../support/server.ts";
import { ask } from "./_installations.ts";
import { databasesIn, mustRun, startTool } from "./_tool.ts";
import { Servers } from "./_servers.ts";

const KEYS = 9;
let endpoint: Endpoint;
const { at, start } = new Servers();

beforeAll(async () => {
  endpoint = await startEndpoint("h2");
});
afterAll(async () => {
  await endpoint.close();
});

/** A call that another partition answers in most cases: once, however often it is asked for. */
const add = (server: Server, i: number) =>
  call(server, "Greeter/callCounter", { key: `k${i % KEYS}`, delta: 1 }, {
    headers: { "idempotency-key": `t${i}` },
  });

/** Clients that go on until `isExpired`. Answers what each call was answered with, as it comes. */
function clients(server: Server, isOver: () => boolean) {
  const answers = new Map<number, unknown>();
  let next = 0;
  const client = async () => {
    while (!isOver()) {
      const i = next++;
      const { status, body } = await add(server, i);
      expect(status).toBe(200);
      answers.set(i, body);
    }
  };
  const done = Promise.all(Array.from({ length: 12 }, client));
  return { answers, done };
}

async function sum(server: Server): Promise<number> {
  const all = Array.from({ length: KEYS }, (_, i) => value(server, `Counter/k${i}/get`));
  return (await Promise.all(all)).reduce<number>((sum, one) => sum + Number(one), 0);
}

test.each([
  ["three files", { DEFAULT_NUM_PARTITIONS: "3", STORAGE__DATABASES: "each" }],
  ["one file", {}],
])("a backup of %s under load is all of one moment", async (name, settings) => {
  const live = await start(at(`${name} live`), settings);
  await register(live, endpoint);
  await send(live, "Greeter/nap", { id: name, ms: 3_000 });
  let isOver = false;
  const { answers, done } = clients(live, () => isOver);
  await until("some load", () => answers.size > 150, 20_000);

  const copy = at(`${name} copy`);
  const tool = startTool(["backup", "--base-dir", live.folder, "--to", copy]);
  // As of the last poll at which the copy did not exist yet.
  let [acknowledged, latest] = [new Map(answers), new Map(answers)];
  await until("the copy to be begun", () => {
    [acknowledged, latest] = [latest, new Map(answers)];
    return existsSync(copy) || !tool.isAlive();
  }, 20_000);
  expect([await tool.ended(), tool.output()]).toEqual([0, expect.stringContaining("Copied")]);
  const { size } = answers;
  await until("the server to go on", () => answers.size > size, 20_000);

  isOver = true;
  await done;
  await live.stop();
  const restored = await start(copy);
  for (const [i, answer] of acknowledged) {
    expect(await add(restored, i)).toMatchObject({ status: 200, body: answer });
  }
  await until("all to be completed", async () => {
    const sql = `select id from sys_invocation where status <> 'completed'`;
    return (await query(restored, sql)).length === 0;
  }, 20_000);
  // Every call in the copy was done once: no message was received that was not sent, and none was lost.
  const calls = `select count(*) as n from sys_invocation
    where target_service_name = 'Greeter' and target_handler_name = 'callCounter'`;
  const [count] = await query(restored, calls);
  expect(Number(count?.["n"])).toBeGreaterThanOrEqual(acknowledged.size);
  expect(await sum(restored)).toBe(Number(count?.["n"]));
  expect(endpoint.count(`${name} before`)).toBe(1);
}, 60_000);

test("a copy is as a server keeps its files", async () => {
  const live = await start(at("plain"), { DEFAULT_NUM_PARTITIONS: "2" });
  await mustRun(["backup", "--base-dir", live.folder, "--to", at("plain copy")], {
    runtime: "deno",
  });
  await live.stop("SIGTERM");
  expect(readdirSync(at("plain copy")).sort()).toEqual(
    ["perdure.db", "perdure.json", "perdure.lock", "perdure.marks"],
  );
  const [is, should] = await Promise.all([at("plain copy"), live.folder].map(describe));
  expect(is).toEqual(should);
}, 30_000);

async function describe(folder: string) {
  const { clients: [client], partitions } = await databasesIn(folder);
  const schema = await ask(client!, "select name, sql from sqlite_master order by name");
  const vacuum = await ask(client!, "select * from pragma_auto_vacuum");
  const journal = await ask(client!, "select * from pragma_journal_mode");
  await client!.close();
  return { partitions, schema, vacuum, journal };
}
