import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "vitest";
import { call, send, value } from "../support/client.ts";
import { until } from "../support/child.ts";
import type { Promises } from "./_world.ts";

/** What a server that does not start prints: one line with the code, and no stack. */
function refusal(output: string): string {
  const lines = output.trimEnd().split("\n").filter((line) => !line.startsWith("{"));
  expect(lines, output).toHaveLength(1);
  return lines[0] ?? "";
}

/** What a process does that neither restarts it nor keeps others from it. */
const startPromises: Promises = {
  "prints one line when it is ready, with both addresses": async ({ server }) => {
    const ready = server.said().split("\n").filter((line) => line.includes("is ready"));
    expect(ready.at(-1)).toContain(server.ingress);
    expect(ready.at(-1)).toContain(server.admin);
  },

  "refuses a data folder another process has, and says what to do": async ({ server, id }) => {
    const { end, output } = await server.rival();
    expect(end).toBe(1);
    expect(refusal(output)).toMatch(/^\[RT0005\] .*base-dir/);
    expect(await value(server, "Greeter/greet", id)).toBe(`Hello ${id}`);
  },

  "refuses a port another process has, and says what to do": async ({ server, id }) => {
    const folder = mkdtempSync(path.join(tmpdir(), "perdure-"));
    const { end, output } = await server.rival({ BASE_DIR: folder });
    rmSync(folder, { recursive: true });
    expect(end).toBe(1);
    expect(refusal(output)).toMatch(/^\[RT0004\] .*127\.0\.0\.1:\d+ .*in use.*ingress\.bind-port/);
    // Over one database, the rival had its rows for a moment.
    const greeted = async () => (await call(server, "Greeter/greet", id)).status === 200;
    await until("the first one to go on", greeted, 20_000);
  },

  "refuses a folder that holds something else": async (world) => {
    const folder = mkdtempSync(path.join(tmpdir(), "perdure-"));
    writeFileSync(path.join(folder, "letter.txt"), "");
    const foreign = await world.server.rival({ BASE_DIR: folder });
    rmSync(folder, { recursive: true });
    expect([foreign.end, refusal(foreign.output)]).toEqual([
      1,
      expect.stringMatching(/^\[META0011\] .*letter\.txt/),
    ]);
  },

  "refuses a setting it cannot read": async (world) => {
    const unread = await world.server.rival({ INGRESS__BIND_PORT: "eighty" });
    expect([unread.end, refusal(unread.output)]).toEqual([
      1,
      expect.stringMatching(/^\[RT0002\] .*eighty/),
    ]);
  },
};

/** Signals, which come to a process that nobody else uses meanwhile. */
const endPromises: Promises = {
  "finishes what is in progress on SIGTERM, then ends with 0": async ({ server, endpoint, id }) => {
    const answer = call(server, "Greeter/hang", id);
    await endpoint.happens(`${id} hang`);
    server.signal("SIGTERM");
    await until(
      "new connections to be refused",
      () => fetch(`${server.ingress}/svc/health`).then(() => false, () => true),
    );
    endpoint.release(id);
    expect((await answer).body).toBe("let go");
    expect(await server.stop("SIGCONT")).toBe(0);
    await server.start();
  },

  "cuts who waits too long on SIGTERM, and goes on after the next start": async (world) => {
    const { server, endpoint, id } = world;
    const headers = { "idempotency-key": id };
    const answer = call(server, "Greeter/hang", id, { headers })
      .then(({ status }) => status, () => "cut");
    await endpoint.happens(`${id} hang`);
    expect(await server.stop("SIGTERM")).toBe(0);
    expect(["cut", 503]).toContain(await answer);
    await server.start();
    endpoint.release(id);
    expect((await call(server, "Greeter/hang", id, { headers })).body).toBe("let go");
  },

  "ends at once on a second signal": async ({ server, endpoint, id }) => {
    const cut = call(server, "Greeter/hang", id).then(() => "answered", () => "cut");
    await endpoint.happens(`${id} hang`);
    const begun = Date.now();
    server.signal("SIGTERM");
    await until("it to have heard", () => server.said().includes("Stopping"));
    expect(await server.stop("SIGTERM")).toBe(143);
    expect(Date.now() - begun).toBeLessThan(10_000);
    expect(await cut).toBe("cut");
    endpoint.release(id);
    await server.start();
  },

  "does not mind standing still": async ({ server, endpoint, id }) => {
    await send(server, "Greeter/nap", { id, ms: 300 });
    await endpoint.happens(`${id} asleep`);
    server.signal("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, 800));
    server.signal("SIGCONT");
    await endpoint.happens(`${id} after`);
    expect(endpoint.count(`${id} after`)).toBe(1);
    expect(await value(server, "Greeter/greet", id)).toBe(`Hello ${id}`);
  },
};

export const processPromises: Promises = { ...startPromises, ...endPromises };
