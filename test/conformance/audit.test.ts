import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { denoCommand, nodeEntry } from "../support/build.ts";
import { Child, until } from "../support/child.ts";
import { shows } from "../support/tokens.ts";
import { startWorkerd } from "../workerd/_server.ts";

vi.setConfig({ testTimeout: 90_000 });

/** A server that can be killed and started again on its rows. */
interface Audited {
  readonly admin: () => string;
  readonly crash: () => Promise<void>;
  readonly close: () => Promise<unknown>;
  readonly output: () => string;
}

const READY = /is ready: ingress (\S+), admin (\S+), data/;
let folder: string;
let server: Audited | undefined;
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), "audit-"))));
afterEach(async () => {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function process_(command: readonly [string, ...string[]]): Promise<Audited> {
  const env = {
    SVC_BASE_DIR: path.join(folder, "data"),
    SVC_INGRESS__BIND_PORT: "0",
    SVC_ADMIN__BIND_PORT: "0",
    SVC_ADMIN__TOKEN: "token-of-admin",
  };
  let child!: Child;
  const start = async () => {
    child = new Child(command, env);
    await until("the server to be ready", async () => {
      if (!child.isAlive()) throw new Error(child.output());
      return READY.test(child.output());
    }, 30_000);
  };
  await start();
  return {
    admin: () => READY.exec(child.output())![2]!,
    crash: async () => {
      await child.stop();
      await start();
    },
    close: () => child.stop(),
    output: () => child.output(),
  };
}

const RUNTIMES: Readonly<Record<string, () => Promise<Audited>>> = {
  node: () => process_([process.execPath, nodeEntry()]),
  deno: () => process_(denoCommand()),
  workerd: async () => {
    const workerd = await startWorkerd({ settings: { ADMIN__TOKEN: "token-of-admin" } });
    return {
      admin: () => workerd.admin,
      crash: () => workerd.crash(),
      close: () => workerd.close(),
      output: () => workerd.logs(),
    };
  },
};

describe.each(Object.entries(RUNTIMES))("the audit on %s", (runtime, start) => {
  test("an acknowledged change is in it after kill -9, with who, what and from where", async () => {
    server = await start();
    const send = (method: string, route: string, body: unknown, token = "token-of-admin") =>
      fetch(`${server!.admin()}${route}`, {
        method,
        headers: {
          "content-type": "application/json",
          accept: "application/json",
          ...shows(token),
        },
        body: JSON.stringify(body),
      });
    const rule = { pattern: "tenant-1/*", limits: { concurrency: 3 } };
    for (let round = 1; round <= 3; round++) {
      const body = [{ ...rule, pattern: `tenant-${round}/*` }];
      expect((await send("PUT", "/limits/rules", body)).status).toBe(200);
      await server.crash();
    }
    expect((await send("PUT", "/limits/rules", [], "token-of-nobody")).status).toBe(401);
    const sql = "select identity, method, route, target, status, remote_address from sys_audit " +
      "order by id";
    const rows = async () => (await (await send("POST", "/query", { query: sql })).json()).rows;
    await until("the refused one to be stored", async () => (await rows()).length === 4);
    const address = runtime === "workerd" ? {} : { remote_address: "127.0.0.1" };
    const common = { method: "PUT", route: "/limits/rules" };
    expect(await rows()).toMatchObject([
      ...[1, 2, 3].map((n) => ({
        ...{ ...common, ...address, identity: "admin.token", status: 200 },
        target: JSON.stringify({ patterns: `tenant-${n}/*` }),
      })),
      { ...common, ...address, status: 401 },
    ]);
    expect(server.output()).toContain("A change through the admin API");
    expect(server.output()).not.toContain("token-of-");
  });
});
