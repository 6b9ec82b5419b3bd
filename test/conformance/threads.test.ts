import { rmSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { afterEach, describe, expect, test, vi } from "vitest";
import { canReusePorts } from "../../adapters/node/reuse_ports.ts";
import { Threads } from "../../adapters/server/threads.ts";
import { readConfig } from "../../src/config.ts";
import { parseMetrics, valueOf } from "../observe/_parse.ts";
import { until } from "../support/child.ts";
import { call, query, register, value } from "../support/client.ts";
import { startEndpoint } from "../support/endpoint.ts";
import { type RuntimeName, Server, startServer } from "../support/server.ts";

/** Callers may have their answers while the server ends. */
const DRAINED = { INGRESS__DRAIN_TIMEOUT: "20s" };
const SEVERAL = { DEFAULT_NUM_PARTITIONS: "4", STORAGE__DATABASES: "each", ...DRAINED };
const SHARED = "Threads share the partitions";
const KEYS = Array.from({ length: 12 }, (_, at) => `k${at}`);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function started(runtime: RuntimeName, threads: string): Promise<Server> {
  const server = await startServer({ runtime, settings: { ...SEVERAL, THREADS: threads } });
  const endpoint = await startEndpoint("h2");
  closing.push(() => server.close(), () => endpoint.close());
  expect((await register(server, endpoint)).status).toBe(201);
  return server;
}

async function metric(server: Server, name: string, labels = {}): Promise<number | undefined> {
  const page = await (await fetch(`${server.admin}/metrics`)).text();
  return valueOf(parseMetrics(page), name, labels);
}

describe.each(["node", "deno"] as const)("threads on %s", (runtime) => {
  test("serve what is registered at the first one, and it tells of all", async () => {
    const server = await started(runtime, "3");
    expect(server.logs()).toContain(SHARED);
    const added = KEYS.map((key) => value(server, "Greeter/callCounter", { key, delta: 2 }));
    expect(await Promise.all(added)).toEqual(KEYS.map(() => 2));
    const sql = "SELECT target, count(*) AS n FROM sys_invocation GROUP BY target ORDER BY target";
    const rows = await query(server, sql);
    expect(rows.filter(({ target }) => String(target).startsWith("Counter/"))).toHaveLength(12);
    expect(rows.at(-1)).toMatchObject({ target: "Greeter/callCounter", n: 12 });
    const labels = { service: "Counter", handler: "add", result: "success" };
    expect(await metric(server, "perdure_invocations_completed_total", labels)).toBe(12);
    expect(await metric(server, "perdure_partition_up")).toBe(1);
    expect((await fetch(`${server.admin}/ready`)).status).toBe(200);
  });

  test("lose nothing by kill -9, and may be more or fewer at the next start", async () => {
    const server = await started(runtime, "2");
    for (const key of KEYS) await value(server, `Counter/${key}/add`, 1);
    await server.crash();
    const others = await Promise.all(KEYS.map((key) => value(server, `Counter/${key}/add`, 1)));
    expect(others).toEqual(KEYS.map(() => 2));
    await server.stop("SIGKILL");

    const settings = { ...SEVERAL, THREADS: "4" };
    const ports = [server.ingress, server.admin].map((url) => Number(new URL(url).port));
    const next = new Server({ runtime, settings }, ports, server.folder);
    closing.unshift(() => next.stop());
    await next.start();
    const counted = await Promise.all(KEYS.map((key) => value(next, `Counter/${key}/add`, 1)));
    expect(counted).toEqual(KEYS.map(() => 3));
  });

  test("end in order, once callers have their answers", async () => {
    const server = await started(runtime, "4");
    const naps = KEYS.map((id) => call(server, "Greeter/nap", { id, ms: 3_000 }));
    await until("the naps to have begun", async () => {
      const rows = await query(server, "SELECT id FROM sys_invocation WHERE status <> 'completed'");
      return rows.length === KEYS.length;
    });
    const end = server.stop("SIGTERM");
    expect((await Promise.all(naps)).map(({ status }) => status)).toEqual(KEYS.map(() => 200));
    expect(await end, server.logs()).toBe(0);
  });

  test("end the server when the data of one of them is gone", async () => {
    const server = await started(runtime, "2");
    rmSync(path.join(server.folder, "perdure-1.db"));
    await until("the server to end", () => !server.isAlive());
    expect(await server.stop()).toBe(1);
    expect(server.logs()).toContain("RT0029");
  });
});

test.each([
  ["20.20.2", false],
  ["22.11.9", false],
  ["22.12.0", true],
  ["23.0.5", false],
  ["23.1.0", true],
  ["24.0.0", true],
])("whether threads share a port on Node %s: %s", (version, can) => {
  expect(canReusePorts(version)).toBe(can);
});

test("there are no more threads than databases", async () => {
  const server = await startServer({ runtime: "node", settings: { THREADS: "4" } });
  closing.push(() => server.close());
  expect(server.logs()).not.toContain(SHARED);
});

test("a thread that ends ends the process, once", async () => {
  const ended = new Promise<void>((resolve) => {
    process.once("worker", (worker) => worker.once("exit", () => resolve()));
  });
  const exit = vi.spyOn(process, "exit").mockReturnValue(undefined as never);
  closing.push(() => exit.mockRestore());
  const log = vi.fn();
  const threads = new Threads({
    entry: "data:text/javascript,throw new Error('a bug')",
    config: readConfig({ file: undefined, env: {}, args: ["--threads", "2"] }),
    acceptLoss: false,
    log,
  });
  void threads.open({ partitions: 2, databases: "each" });
  await ended;
  expect(exit.mock.calls).toEqual([[70]]);
  expect(log).toHaveBeenCalledWith("error", "Ending because a thread has ended", {
    thread: 1,
    cause: expect.stringContaining("a bug"),
  });
});
