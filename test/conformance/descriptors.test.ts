import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { nodeEntry } from "../support/build.ts";
import { Child, freePorts, until } from "../support/child.ts";
import { get, query } from "../support/client.ts";

let folder: string;
let child: Child | undefined;
const sockets: Socket[] = [];
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), "descriptors-"))));
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await child?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A server that may have so many file descriptors. */
function startWith(count: number, env: NodeJS.ProcessEnv = {}): Child {
  const limited = `ulimit -n ${count}; exec "$0" "$@"`;
  return child = new Child(["sh", "-c", limited, process.execPath, nodeEntry()], {
    SVC_BASE_DIR: path.join(folder, "data"),
    SVC_INGRESS__BIND_PORT: "0",
    SVC_ADMIN__BIND_PORT: "0",
    ...env,
  });
}

/** Connections that say nothing, until the server has no descriptor left for one. */
async function openMany(url: string, count: number): Promise<void> {
  const port = Number(new URL(url).port);
  for (let i = 0; i < count; i++) {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => {});
    sockets.push(socket);
    await new Promise((resolve) => socket.once("connect", resolve).once("close", resolve));
  }
}

// Elsewhere, a process cannot see how many it may have.
describe.skipIf(process.platform !== "linux")("a process with few file descriptors", () => {
  test.each([64, 100])("does not start with %i, and says how many it needs", async (count) => {
    const server = startWith(count);
    expect(await server.ended()).toBe(1);
    expect(server.output().trimEnd().split("\n")).toEqual([
      expect.stringMatching(
        new RegExp(`^\\[RT0026\\] .*may have ${count} file descriptors and needs .*ulimit -n`),
      ),
    ]);
  });

  test("does not open more databases than it has descriptors for", async () => {
    const server = startWith(150, {
      SVC_DEFAULT_NUM_PARTITIONS: "20",
      SVC_STORAGE__DATABASES: "each",
    });
    expect(await server.ended()).toBe(1);
    expect(server.output()).toMatch(/^\[RT0026\] Cannot open the database of partition \d+/);
  });

  test("starts with 256", async () => {
    const server = startWith(256);
    await until("it to be ready", () => server.output().includes("ready"));
    expect(await server.stop("SIGTERM")).toBe(0);
  });

  test("says once that none is left, and goes on when there are some again", async () => {
    const [ingressPort, adminPort] = await freePorts(2);
    const [ingress, admin] = [ingressPort, adminPort].map((port) => `http://127.0.0.1:${port}`);
    const server = startWith(128, {
      SVC_INGRESS__BIND_PORT: String(ingressPort),
      SVC_ADMIN__BIND_PORT: String(adminPort),
    });
    await until("it to be ready", () => server.output().includes("ready"));
    await openMany(ingress!, 150);
    const said = (text: string) => server.output().split(text).length - 1;
    await until("it to say so", () => said("File descriptors run short") === 1, 20_000);
    for (const socket of sockets.splice(0)) socket.destroy();
    await until("it to recover", () => said("enough file descriptors again") === 1, 20_000);
    expect((await get(`${ingress}/svc/health`)).status).toBe(200);
    const rows = await query({ ingress: ingress!, admin: admin! }, "select 1 as one");
    expect(rows).toEqual([{ one: 1 }]);
    expect([said("File descriptors run short"), server.isAlive()]).toEqual([1, true]);
  }, 60_000);
});
