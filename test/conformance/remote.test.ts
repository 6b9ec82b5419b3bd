import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { denoCommand, nodeEntry } from "../support/build.ts";
import { Child, until } from "../support/child.ts";
import { call, get, register, send, value } from "../support/client.ts";
import { Distance } from "../support/distance.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type RuntimeName, type Server, startServer } from "../support/server.ts";
import { type Sqld, sqldProgram, startSqld } from "../support/sqld.ts";

const program = await sqldProgram();
const RUNTIMES: readonly RuntimeName[] = ["node", "deno"];
const TOKEN = "t0ken-nobody-may-see";

for (const runtime of RUNTIMES) {
  describe.skipIf(program === undefined)(`${runtime} over a libSQL server`, () => {
    let sqld: Sqld, distance: Distance, endpoint: Endpoint, server: Server;
    beforeAll(async () => {
      [sqld, endpoint] = await Promise.all([startSqld(program ?? ""), startEndpoint("h2")]);
      distance = new Distance({ target: new URL(sqld.url), delayMs: 10 });
      server = await startServer({
        runtime,
        settings: {
          // The server looks at no token, so it can be one that is easily found.
          STORAGE__DATABASE_URL: `${await distance.listen()}?authToken=${TOKEN}`,
          STORAGE__REQUEST_TIMEOUT: "500ms",
        },
      });
      expect((await register(server, endpoint)).status).toBe(201);
    }, 60_000);
    afterAll(async () => {
      await Promise.all([server?.close(), endpoint?.close()]);
      await distance?.close();
      await sqld?.close();
    });

    afterEach(({ task }) => {
      if (task.result?.state !== "fail") return;
      console.error(`${task.name}: the server said\n${server.logs().slice(-4000)}`);
    });

    test("knows deployments and state after a kill", async () => {
      expect(await value(server, "Counter/kept/add", 4)).toBe(4);
      await server.crash();
      expect(await value(server, "Counter/kept/add", 1)).toBe(5);
      expect((await get(`${server.admin}/deployments`)).body).toMatchObject({ deployments: [{}] });
    }, 30_000);

    test("goes on after a kill where it stopped, and answers once", async () => {
      const headers = { "idempotency-key": "once" };
      const input = { id: "once", count: 3, holdAt: 1 };
      await send(server, "Greeter/steps", input, { headers });
      await endpoint.happens("once step 1");
      await server.crash();
      endpoint.release("once");
      const { status, body } = await call(server, "Greeter/steps", input, { headers });
      expect([status, (body as unknown[]).length]).toEqual([200, 3]);
      expect([endpoint.count("once step 0"), endpoint.count("once step 2")]).toEqual([1, 1]);
    }, 30_000);

    test("goes on when the database is away, and nobody notices but by waiting", async () => {
      const calls = Promise.allSettled(Array.from(
        { length: 40 },
        (_, i) => value(server, `Counter/away${i % 4}/add`, 1),
      ));
      distance.reset();
      await sqld.stop();
      await sqld.start();
      distance.isCut = true;
      setTimeout(() => distance.isCut = false, 700);
      for (const one of await calls) expect(one.status).toBe("fulfilled");
      for (let i = 0; i < 4; i++) expect(await value(server, `Counter/away${i}/add`, 0)).toBe(10);
      expect(server.said()).not.toContain("The partition stopped");
    }, 30_000);

    test("uses no folder, stops in order, and never says its token", async () => {
      expect(await server.stop("SIGTERM")).toBe(0);
      expect(readdirSync(server.folder)).toEqual([]);
      await server.start();
      expect(server.logs()).toMatch(/is ready: .*, data http:\/\/127\.0\.0\.1:\d+$/m);
      expect(server.logs()).not.toContain(TOKEN);
    }, 30_000);
  });
}

describe.each([
  ["node", () => [process.execPath, nodeEntry()] as const],
  ["deno", denoCommand],
])("%s without a database", (_, command: () => readonly [string, ...string[]]) => {
  test.each([
    [
      "nobody is there",
      { DATABASE_URL: "http://127.0.0.1:9" },
      /database: .*\(http:\/\/127\.0\.0\.1:9\)/,
    ],
    [
      "the address is another's",
      { DATABASE_URL: `postgres://a:${TOKEN}@b/c` },
      /^\[RT0002\].*DATABASE_URL/,
    ],
    [
      "the token is none",
      { DATABASE_URL: "http://a", DATABASE_AUTH_TOKEN: `${TOKEN} x` },
      /^\[RT0002\].*TOKEN/,
    ],
    [
      "the address holds more",
      { DATABASE_URL: `http://a?tok=${TOKEN}` },
      /^\[RT0002\].*database URL/,
    ],
  ])("says why it does not start when %s", async (_, env, says) => {
    const folder = mkdtempSync(path.join(tmpdir(), "process-"));
    const child = new Child(command(), {
      ...env,
      SVC_BASE_DIR: path.join(folder, "data"),
      SVC_INGRESS__BIND_PORT: "0",
      SVC_ADMIN__BIND_PORT: "0",
      SVC_STORAGE__RETRY_TIMEOUT: "100ms",
    });
    try {
      await until("it to end", () => !child.isAlive(), 20_000);
      const last = child.output().trim().split("\n").at(-1) ?? "";
      expect([await child.ended(), last]).toEqual([1, expect.stringMatching(says)]);
      expect(child.output()).not.toContain(TOKEN);
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      await child.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  }, 30_000);
});
