import { existsSync, readdirSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { quotaOf } from "../../adapters/platform/machine.ts";
import { register, value } from "../support/client.ts";
import { startEndpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";

vi.setConfig({ testTimeout: 60_000 });

const CORES = 8;
const CPU_MAX = "/sys/fs/cgroup/cpu.max";
/** A container that confines these tests confines their servers as well. */
const isConfined = existsSync(CPU_MAX) && quotaOf(readFileSync(CPU_MAX, "utf8")) < CORES;
const manyCores = new URL("../support/_eight_cores.mjs", import.meta.url).href;
const SHARED = "Threads share the partitions";
const HINT = "One thread serves this data";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function started(settings: Record<string, string>): Promise<Server> {
  const env = { NODE_OPTIONS: `--import ${manyCores}` };
  const server = await startServer({ runtime: "node", settings, env });
  closing.push(() => server.close());
  return server;
}

describe.skipIf(isConfined)("on a machine of eight cores", () => {
  test("a new folder has four partitions with a file and a thread each", async () => {
    const server = await started({ DEFAULT_NUM_PARTITIONS: "auto" });
    expect(server.logs()).toMatch(new RegExp(`"${SHARED}".*"threads":4`));
    expect(readdirSync(server.folder).filter((name) => name.endsWith(".db"))).toHaveLength(4);
    const endpoint = await startEndpoint("h2");
    closing.push(() => endpoint.close());
    expect((await register(server, endpoint)).status).toBe(201);
    const keys = Array.from({ length: 16 }, (_, at) => `k${at}`);
    const added = await Promise.all(keys.map((key) => value(server, `Counter/${key}/add`, 1)));
    expect(added).toEqual(keys.map(() => 1));
  });

  test("a folder of one partition goes on with one thread, and the log says what to do", async () => {
    const server = await started({ DEFAULT_NUM_PARTITIONS: "1" });
    expect(server.logs()).toContain(HINT);
    expect(server.logs()).not.toContain(SHARED);
  });
});
