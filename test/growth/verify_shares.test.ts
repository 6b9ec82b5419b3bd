import { cpSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLocal } from "../../adapters/libsql/file/local_client.ts";
import { partitionOfCounter } from "../../src/model/ring.ts";
import { until } from "../support/child.ts";
import { manage, register, value } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { Servers } from "./_servers.ts";
import { runTool } from "./_tool.ts";

const PARTITIONS = 3;
const SETTINGS = { DEFAULT_NUM_PARTITIONS: String(PARTITIONS), STORAGE__DATABASES: "each" };
const COUNTER = "service:Counter";
const HOME = partitionOfCounter(COUNTER, PARTITIONS);
/** A partition that has no bank of its own. */
const OTHER = (HOME + 1) % PARTITIONS;

const { at, start } = new Servers();
let endpoint: Endpoint;
let copies = 0;

beforeAll(async () => {
  endpoint = await startEndpoint("h2");
  const server = await start(at("limited"), SETTINGS);
  await register(server, endpoint);
  const limited = await manage(server, "PATCH /services/Counter", { concurrency: 4 });
  expect(limited.status, JSON.stringify(limited.body)).toBe(200);
  for (let i = 0; i < 24; i++) await value(server, `Counter/k${i}/add`, 1);
  await server.stop("SIGKILL");
}, 60_000);
afterAll(() => endpoint.close());

/** A copy of the folder, whose log is folded. */
async function folded(): Promise<string> {
  const folder = at(`copy-${++copies}`);
  cpSync(at("limited"), folder, { recursive: true });
  const server = await start(folder, { STORAGE__FOLD_ROWS: "1" });
  await until("the log to be folded", async () => {
    const page = await (await fetch(`${server.admin}/metrics`)).text();
    return /^perdure_log_pending_rows 0$/m.test(page);
  });
  await server.stop("SIGKILL");
  return folder;
}

/** Changes the database of a partition, and answers what it finds there. */
async function change(folder: string, partition: number, ...statements: string[]) {
  const name = partition === 0 ? "perdure.db" : `perdure-${partition}.db`;
  const client = await openLocal({ url: pathToFileURL(path.join(folder, name)).href });
  const answers = await client.batch("write", statements.map((sql) => ({ sql, args: [] })));
  await client.close();
  return answers;
}

/** The lines of a check that fails. */
async function problems(folder: string): Promise<string[]> {
  const { end, output } = await runTool(["verify", "--base-dir", folder]);
  expect(end, output).toBe(1);
  return output.split("\n");
}

const KEY = `'${OTHER}/${COUNTER}'`;
/** Slots that a partition has, as `change` answers them. */
const HAS = `select body ->> '$.slots' as slots from share where share = ${KEY}`;

test("what partitions have is what they were given, in tables and in logs", async () => {
  // A server that was killed has left its rows in the log.
  for (const folder of [at("limited"), await folded()]) {
    const { end, output } = await runTool(["verify", "--base-dir", folder]);
    expect([end, output]).toEqual([0, expect.stringContaining("Nothing is missing or damaged")]);
  }
}, 60_000);

test("a partition that has more slots than it was given is listed", async () => {
  const folder = await folded();
  const [[before] = []] = await change(folder, OTHER, HAS);
  const has = Number(before?.["slots"]);
  const more = `update share set body = json_set(body, '$.slots', ${has + 1}) where share = ${KEY}`;
  await change(folder, OTHER, more);
  expect(await problems(folder)).toEqual(expect.arrayContaining([
    `share "${OTHER}/${COUNTER}": it has ${has + 1} slots, and its bank has given it ${has}`,
    expect.stringMatching(/^Found 1 problems/),
  ]));
}, 60_000);

test("slots that have left their home and are nowhere are listed", async () => {
  const folder = await folded();
  await change(folder, 0, `update control set body = json_set(body, '$.limits.concurrency', 40)`);
  const [[before] = []] = await change(folder, OTHER, HAS);
  const has = Number(before?.["slots"]);
  const given = `json_set(body, '$.given."${OTHER}"', ${has + 2})`;
  await change(folder, HOME, `update bank set body = ${given} where counter = '${COUNTER}'`);
  const lost = `share "${OTHER}/${COUNTER}": it has ${has} slots, and its bank has given it ${
    has + 2
  }`;
  expect(await problems(folder)).toEqual(expect.arrayContaining([lost]));
  // On their way they are not lost.
  const message = `{"type":"slotsGiven","counter":"${COUNTER}","to":${OTHER},"slots":2,"starts":0}`;
  const sent =
    `insert into outbox (peer, seq, body) values ('${HOME}/${OTHER}', 1000, '${message}')`;
  await change(folder, HOME, sent);
  const { end, output } = await runTool(["verify", "--base-dir", folder]);
  expect([end, output]).toEqual([0, expect.stringContaining("Nothing is missing or damaged")]);
}, 60_000);

test(
  "partitions that have more slots than the limit are listed, unless they are to return them",
  async () => {
    const folder = await folded();
    const slots = `json_set(body, '$.slots', 7)`;
    const given = `json_set(body, '$.given."${OTHER}"', 7)`;
    await change(folder, OTHER, `update share set body = ${slots} where share = ${KEY}`);
    await change(folder, HOME, `update bank set body = ${given} where counter = '${COUNTER}'`);
    expect(await problems(folder)).toEqual(expect.arrayContaining([
      expect.stringMatching(
        /^bank "service:Counter": partitions have \d+ slots, and the limit is 4$/,
      ),
      expect.stringMatching(/^Found 1 problems/),
    ]));
    const told = `json_set(body, '$.told', json('[0,1,2]'))`;
    await change(folder, HOME, `update bank set body = ${told} where counter = '${COUNTER}'`);
    const { end, output } = await runTool(["verify", "--base-dir", folder]);
    expect([end, output]).toEqual([0, expect.stringContaining("Nothing is missing or damaged")]);
  },
  60_000,
);
