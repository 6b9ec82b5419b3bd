import { readdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, expect, test } from "vitest";
import { openLocal } from "../../adapters/libsql/file/local_client.ts";
import { partitionOfCounter } from "../../src/model/ring.ts";
import { parseMetrics, valueOf } from "../observe/_parse.ts";
import { until } from "../support/child.ts";
import { manage, register, value } from "../support/client.ts";
import { startEndpoint } from "../support/endpoint.ts";
import { type RuntimeName, type Server, startServer } from "../support/server.ts";
import { asServer, startWorkerd } from "../workerd/_server.ts";

const SEVERAL = { DEFAULT_NUM_PARTITIONS: "3", STORAGE__DATABASES: "each" };
/** Rows are in tables as soon as they are written, where they can be damaged. */
const FOLDED = { STORAGE__FOLD_ROWS: "1" };

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function metric(server: Server, name: string, labels = {}): Promise<number | undefined> {
  const page = await (await fetch(`${server.admin}/metrics`)).text();
  return valueOf(parseMetrics(page), name, labels);
}

const disagreements = (server: Server, table: string) =>
  metric(server, "perdure_slot_disagreements_total", { table });

/** A server that has run calls, and whose rows are in tables, where it was killed. */
async function killed(server: Server): Promise<void> {
  const endpoint = await startEndpoint("h2");
  closing.push(() => server.close(), () => endpoint.close());
  expect((await register(server, endpoint)).status).toBe(201);
  const limited = await manage(server, "PATCH /services/Counter", { concurrency: 4 });
  expect(limited.status, JSON.stringify(limited.body)).toBe(200);
  for (let i = 0; i < 8; i++) await value(server, `Counter/k${i}/add`, 1);
  expect(await disagreements(server, "invocation")).toBe(0);
  await until(
    "all rows to be in tables",
    async () => await metric(server, "perdure_log_pending_rows") === 0,
  );
  await server.stop("SIGKILL");
}

/** Changes every database in a folder by hand. */
async function change(folder: string, sql: string): Promise<void> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /^perdure(-\d)?\.db$|[0-9a-f]{64}\.sqlite$/.test(path.basename(name)));
  expect(files).not.toEqual([]);
  for (const name of files) {
    const client = await openLocal({ url: pathToFileURL(path.join(folder, name)).href });
    await client.batch("write", [{ sql, args: [] }]);
    await client.close();
  }
}

const started = (runtime: RuntimeName) => () => startServer({ runtime, settings: FOLDED });

test.each([
  ["Node", started("node")],
  ["Deno", started("deno")],
  ["workerd", async () => asServer(await startWorkerd({ settings: FOLDED }))],
])(
  "an invocation whose slots are not counted is counted as damaged, on %s",
  async (_, start) => {
    const server = await start();
    await killed(server);
    const last = "select max(id) from invocation where status = 'completed'";
    await change(server.folder, `update invocation set status = 'invoked' where id = (${last})`);
    await server.start();
    expect([await disagreements(server, "invocation"), await disagreements(server, "bank")])
      .toEqual([1, 0]);
    expect(await value(server, "Counter/other/add", 1)).toBe(1);
  },
  60_000,
);

test("a bank that is corrected at a start is counted as damaged", async () => {
  const server = await startServer({ runtime: "node", settings: { ...FOLDED, ...SEVERAL } });
  await killed(server);
  const counter = "service:Counter", home = partitionOfCounter(counter, 3);
  await change(
    server.folder,
    `update bank set body = json_set(body, '$.given."${home}"', 5) where counter = '${counter}'`,
  );
  await server.start();
  await until("the bank to be corrected", async () => await disagreements(server, "bank") === 1);
  expect(await disagreements(server, "invocation")).toBe(0);
  expect(await value(server, "Counter/other/add", 1)).toBe(1);
}, 60_000);
