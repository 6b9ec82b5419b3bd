import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { INVOCATION_ID_BYTES, printInvocationId } from "../../src/model/id.ts";
import type { Message } from "../../src/model/message.ts";
import { partitionOfId } from "../../src/model/ring.ts";
import type { Rows } from "../../src/model/rows.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { until } from "../support/child.ts";
import { ask, call, get, operate, query, register, send, value } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import type { Server } from "../support/server.ts";
import { close } from "./_installations.ts";
import { databasesIn, filledFolder, mustRun, runTool, serverOn, startTool } from "./_tool.ts";
import { rowsOf, Servers } from "./_servers.ts";

let endpoint: Endpoint;
const { at, start } = new Servers();

beforeAll(async () => {
  endpoint = await startEndpoint("h2");
});
afterAll(async () => {
  await endpoint.close();
});

/** Some file that is no dump. */
const endpointLog = () => path.join(endpoint.folder, "log");

const once = (key: string) => ({ headers: { "idempotency-key": key } });
const greeted = (i: number) => ({ status: 200, body: `Hello ${i}` });

const PAUSED = "select id from sys_invocation where status = 'paused'";

/** Something of everything that can be under way. Answers the awakeable that an invocation waits for. */
async function mix(server: Server): Promise<string> {
  for (let i = 0; i < 20; i++) {
    expect(await call(server, "Greeter/greet", `${i}`, once(`k${i}`))).toMatchObject(greeted(i));
    await value(server, `Counter/c${i}/add`, i);
  }
  await send(server, "Greeter/nap", { id: "nap", ms: 4_000 }, once("nap"));
  await send(server, "Waiter/callNap", { id: "child", ms: 4_000 }, once("call"));
  await send(server, "Greeter/note", "scheduled", { query: "delay=4s" });
  await send(server, "Counter/busy/hold", "h1");
  await endpoint.happens("h1 hold");
  for (let i = 0; i < 3; i++) await send(server, "Counter/busy/append", `w${i}`);
  await send(server, "Fragile/pauses", "f1", once("f1"));
  await send(server, "Greeter/flaky", { id: "flaky", failures: 12 }, once("flaky"));
  await send(server, "Flow/w/run", "w1");
  await endpoint.happens("w1 run");
  await send(server, "Waiter/awakeables", { id: "a1", count: 1 }, once("a1"));
  await endpoint.happens("nap asleep");
  await endpoint.happens("child asleep");
  await until("somebody to be paused", async () => (await query(server, PAUSED)).length === 1);
  return await endpoint.announces("a1 awakeable 0");
}

/** All invocations in flight go on and complete, once. */
async function goesOn(server: Server, awakeable: string): Promise<void> {
  for (let i = 0; i < 20; i++) {
    expect(await call(server, "Greeter/greet", "other", once(`k${i}`))).toMatchObject(greeted(i));
    expect(await value(server, `Counter/c${i}/get`)).toBe(i);
  }
  endpoint.release("h1");
  endpoint.release("f1");
  expect((await ask(server, `awakeables/${awakeable}/resolve`, 5)).status).toBe(202);
  await value(server, "Flow/w/resolve", "gone");
  const [paused] = await query(server, PAUSED);
  expect(await operate(server, "resume", String(paused?.["id"]))).toMatchObject({ status: 200 });
  const ends: [string, unknown, unknown][] = [
    ["Fragile/pauses", "f1", "healed"],
    ["Waiter/awakeables", "a1", [{ value: 5 }]],
    ["Greeter/flaky", "flaky", expect.any(Number)],
  ];
  for (const [target, key, end] of ends) {
    expect(await call(server, target, {}, once(String(key)))).toMatchObject({ body: end });
  }
  for (const key of ["nap", "call"]) {
    const target = key === "nap" ? "Greeter/nap" : "Waiter/callNap";
    expect(await call(server, target, {}, once(key))).toMatchObject({ status: 200 });
  }
  expect(await ask(server, "workflow/Flow/w/attach"))
    .toMatchObject({ status: 200, body: { id: "w1", value: "gone" } });
  await endpoint.happens("scheduled");
  await until("the inbox to be empty", async () => {
    const words = await value(server, "Counter/busy/words") as string[];
    return words.join() === "w0,w1,w2";
  }, 20_000);
  await until("all to be completed", async () => {
    const sql = "select id, status from sys_invocation where status <> 'completed'";
    return (await query(server, sql)).length === 0;
  }, 20_000);
  for (const line of ["nap before", "nap after", "child after", "scheduled", "w1 run"]) {
    expect([line, endpoint.count(line)]).toEqual([line, 1]);
  }
}

test("a server goes on in any number of partitions, and its rows stay the same", async () => {
  const first = await start(at("one"));
  await register(first, endpoint);
  const awakeable = await mix(first);
  await first.stop("SIGKILL");

  const said = await mustRun(["reshard", "--to-partitions", "3", "--base-dir", at("one")].concat(
    ["--to-databases=each", "--to", at("three")],
  ));
  expect(said).toMatch(/reshard: Copied and checked \d+ rows: 1 partitions became 3/);
  const rows = await rowsOf(at("one"));
  expect(rows["invocation"]!.length).toBeGreaterThan(50);
  expect(rows["inbox"]!.length).toBe(3);
  expect(await rowsOf(at("three"))).toEqual(rows);
  expect(readdirSync(at("three"))).toContain("perdure-2.db");

  await mustRun(["reshard", "--to-partitions=1", "--base-dir", at("three"), "--to", at("again")]);
  expect(await rowsOf(at("again"))).toEqual(rows);

  const dump = at("dump.jsonl");
  await mustRun(["export", "--to", dump, "--base-dir", at("again")], { runtime: "deno" });
  expect(statSync(dump).mode & 0o077).toBe(0);
  await mustRun(["import", "--from", dump, "--default-num-partitions=2", "--base-dir", at("two")]);
  expect(await rowsOf(at("two"))).toEqual(rows);

  await goesOn(await start(at("three")), awakeable);
  expect(await rowsOf(at("one"))).toEqual(rows);
}, 60_000);

/** Leaves a message of partition 0 for partition 2 as if the process had ended before it went. */
async function leaveMessage(folder: string, line: string): Promise<void> {
  const installation = await databasesIn(folder);
  const store = new SqlStore(installation.of(0));
  const lease = await store.claim(0);
  const [peer] = await store.load(lease, [{ table: "peer", group: "0/2" }]);
  const [known] = peer?.rows as Rows["peer"][];
  const row = { from: 0, to: 2, sent: (known?.sent ?? 0) + 1, heard: known?.heard ?? 0 };
  const message: Message = {
    type: "invoked",
    // In the last partition: its key is as large as can be.
    id: printInvocationId(new Uint8Array(INVOCATION_ID_BYTES).fill(0xff)),
    fresh: true,
    target: { service: "Greeter", handler: "note", type: "service", access: "none" },
    headers: [],
    value: new TextEncoder().encode(JSON.stringify(line)),
    origin: { by: "ingress" },
    retention: { resultMs: 0, journalMs: 0 },
  };
  expect(partitionOfId(message.id, 3)).toBe(2);
  await store.commit(lease, [
    { table: "outbox", row: { from: 0, to: 2, seq: row.sent, message }, drop: false },
    { table: "peer", row, drop: false },
  ]);
  await store.close();
  await close(installation);
}

test("messages that were under way between partitions arrive once", async () => {
  const settings = { DEFAULT_NUM_PARTITIONS: "3", STORAGE__DATABASES: "each" };
  const first = await start(at("busy"), settings);
  await register(first, endpoint);
  const tasks = Array.from({ length: 120 }, (_, i) => ({
    path: i % 2 === 0 ? "Greeter/callCounter" : "Greeter/relay",
    input: i % 2 === 0 ? { key: `m${i % 7}`, delta: 1 } : { key: `m${i % 7}`, deltas: [1, 1] },
    ask: once(`t${i}`),
  }));
  let answered = 0;
  const asked = tasks.map(({ path, input, ask }) =>
    call(first, path, input, ask).then(() => answered++, () => {})
  );
  await until("some to be answered", () => answered > 20, 20_000);
  await first.stop("SIGKILL");
  await Promise.all(asked);
  await leaveMessage(at("busy"), "brought");
  expect(await mustRun(["reshard", "--to-partitions", "2", "--base-dir", at("busy")]))
    .toContain("Messages under way were brought");

  const second = await start(at("busy-new"));
  for (const { path, input, ask } of tasks) {
    expect(await call(second, path, input, ask)).toMatchObject({ status: 200 });
  }
  await until("every message to have arrived", async () => {
    const keys = Array.from({ length: 7 }, (_, i) => value(second, `Counter/m${i}/get`));
    return (await Promise.all(keys)).reduce<number>((a, b) => a + Number(b), 0) === 60 + 120;
  }, 30_000);
  await endpoint.happens("brought");
  expect(endpoint.count("brought")).toBe(1);
}, 60_000);

test("a copy that is cut off is refused, and the old data as it was", async () => {
  await filledFolder(at("large"), 8_000);
  const rows = await rowsOf(at("large"));
  const args = ["reshard", "--to-partitions", "2", "--base-dir", at("large"), "--to"];
  const file = path.join(at("cut"), "perdure.db");
  const tool = startTool([...args, at("cut")]);
  await until("half of it to be there", () => {
    if (!tool.isAlive()) throw new Error(tool.output());
    return existsSync(`${file}-wal`) && statSync(file).size + statSync(`${file}-wal`).size > 1e6;
  }, 20_000);
  expect(await tool.stop("SIGKILL")).toBe("SIGKILL");

  const { end, output } = await (await serverOn(at("cut"))).rival();
  expect([end, output]).toEqual([1, expect.stringMatching(/RT0009.*cut off/)]);
  for (
    const again of [[...args, at("cut")], ["backup", "--base-dir", at("cut"), "--to", at("x")]]
  ) {
    expect(await runTool(again)).toMatchObject({ end: 1, output: expect.stringMatching(/RT0009/) });
  }
  // The database itself records it, also when the version file is put there by hand.
  writeFileSync(
    path.join(at("cut"), "perdure.json"),
    readFileSync(path.join(at("large"), "perdure.json")),
  );
  const forced = await (await serverOn(at("cut"))).rival();
  expect(forced).toMatchObject({ end: 1, output: expect.stringMatching(/META0011.*not finished/) });
  expect(await rowsOf(at("large"))).toEqual(rows);
  await mustRun([...args, at("whole")]);
  expect(await rowsOf(at("whole"))).toEqual(rows);
}, 60_000);

test(
  "what is in use, is not there or is not empty is refused, and nothing is changed",
  async () => {
    const server = await start(at("live"));
    await register(server, endpoint);
    const base = ["--base-dir", at("live")];
    const refused = async (args: readonly string[], told: RegExp) => {
      expect(await runTool(args)).toMatchObject({ end: 1, output: expect.stringMatching(told) });
    };
    await refused(["reshard", "--to-partitions=2", "--to", at("r1"), ...base], /RT0005/);
    await refused(["export", "--to", at("r2"), ...base], /RT0005/);
    await refused(["import", "--from", at("r2"), ...base], /Cannot import: ENOENT/);
    await refused(["import", "--from", endpointLog(), ...base], /META0011.*there is data in it/);
    await refused(["backup", "--to", at("live"), ...base], /META0011/);
    await refused(
      ["reshard", "--to-partitions=2", "--base-dir", at("no")],
      /there is no data in it/,
    );
    expect([at("no"), at("r1"), at("r2")].filter((file) => existsSync(file))).toEqual([]);
    expect(await get(`${server.admin}/health`)).toMatchObject({ status: 200 });
  },
  30_000,
);
