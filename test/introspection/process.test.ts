import fc from "fast-check";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { encodeFrame, type Frame, FrameReader } from "../../adapters/libsql/query/frames.ts";
import type { Failure } from "../../src/errors.ts";
import type { Introspection } from "../../src/query_port.ts";
import { until } from "../support/child.ts";
import { type RuntimeName, type Server, startServer } from "../support/server.ts";
import { answerOf, LIMITS, openSmall, rowsOf, type Small } from "./_small.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const ROWS = 2000;
/** A text of 32 million letters, made by one statement of 250 characters. */
const LONG = Array.from({ length: 6 }).reduce<string>(
  (text) => `replace(${text}, 'a', 'aaaaaaaaaa')`,
  `'${"a".repeat(32)}'`,
);
/** One step of the database that takes an hour and heeds no interrupt. */
const ENDLESS = `select strpos(${LONG}, substr(${LONG}, 1, 16000000) || 'b') as x`;
/** The same, growing to 3 GB. */
const HUGE = `select length(replace(replace(${LONG}, 'a', 'aaaaaaaaaa'), 'a', 'aaaaaaaaaa')) as x`;

describe("a step of the database that cannot be interrupted", () => {
  let small: Small;

  beforeAll(async () => void (small = await openSmall(ROWS)));
  afterAll(async () => await small?.close());

  const refusal = async (by: Introspection, sql: string) =>
    await answerOf(by, sql).then(() => undefined, (cause) => cause) as Failure;

  test("ends when its query has used up its time, and the next query works", async () => {
    const hasty = small.introspection({ limits: { ...LIMITS, timeMs: 1000 }, queriesMax: 1 });
    const { status, message } = await refusal(hasty, ENDLESS);
    expect([status, message]).toEqual([
      500,
      "Cannot run the query: it took more than 1000 ms; add conditions, or raise " +
      "admin.query-engine.timeout",
    ]);
    expect(await rowsOf(hasty, "select count(*) as n from state")).toEqual([{ n: ROWS }]);
  });

  test("ends when it has used up its memory, and the next query works", async () => {
    const memoryBytesMax = 64 * 1024 * 1024;
    const poor = small.introspection({ limits: { ...LIMITS, memoryBytesMax }, queriesMax: 1 });
    const { status, message } = await refusal(poor, HUGE);
    expect([status, message]).toEqual([
      500,
      "Cannot run the query: it took more than 67108864 bytes of memory; add conditions, or raise " +
      "admin.query-engine.memory-size",
    ]);
    expect(await rowsOf(poor, "select count(*) as n from state")).toEqual([{ n: ROWS }]);
  });

  test("takes no other query along when it is ended", async () => {
    const limits = { ...LIMITS, memoryBytesMax: 64 * 1024 * 1024 };
    const both = small.introspection({ limits });
    const sql = "select a.key, b.key as b from state a, state b limit 20000";
    const stream = await both.query({ sql, format: "json", version: "1", running: [] });
    const reader = stream.getReader();
    let text = new TextDecoder().decode((await reader.read()).value);
    expect((await refusal(both, HUGE)).message).toContain("took more than 67108864 bytes");
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += new TextDecoder().decode(part.value);
    }
    expect(JSON.parse(text).rows).toHaveLength(20_000);
  });
});

test("queries are refused with what to do where no process can be started", async () => {
  const small = await openSmall(1);
  const said: unknown[] = [];
  const program = pathToFileURL("/nowhere/no_program.mjs");
  const by = small.introspection({ program, log: (...record) => said.push(record) });
  const cause = await answerOf(by, "select 1").catch((cause) => cause) as Failure;
  expect(cause.status).toBe(503);
  expect(cause.message).toContain("cannot be started: it ended with code 1:");
  expect(cause.message).toContain("allow the server to start processes");
  expect(JSON.stringify(said)).toContain("Cannot start a query process");
  await small.close();
});

test("the last process ends some time after the last query, and the next query has another", async () => {
  const small = await openSmall(1);
  const by = small.introspection({ quietMs: 300 });
  const mine = () =>
    childrenOf(process.pid).filter(({ pid }) => commandOf(pid).includes("libsql_query_child"));
  for (let time = 0; time < 2; time++) {
    expect(await rowsOf(by, "select 1 as x")).toEqual([{ x: 1 }]);
    await until("the end of all processes", () => mine().length === 0);
  }
  await small.close();
});

const hasProc = existsSync("/proc/self/stat");
const one = { status: 200, body: { rows: [{ x: 1 }] } };

async function ask({ admin }: Server, sql: string) {
  const answer = await fetch(`${admin}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query: sql }),
  });
  return { status: answer.status, body: await answer.json() };
}

/** What holds on every runtime, of a server that was just started. */
const promises: Record<string, (server: Server) => Promise<void>> = {
  "there is none at first, one since a page of the UI was opened, and others after they were killed":
    async (server) => {
      expect(await fetch(`${server.admin}/services`)).toMatchObject({ status: 200 });
      expect(childrenOf(server.pid)).toEqual([]);
      expect(await fetch(`${server.admin}/ui/`)).toMatchObject({ status: 200 });
      await until("a query process", () => childrenOf(server.pid).length === 1);
      expect(await ask(server, "select 1 as x")).toEqual(one);
      const before = childrenOf(server.pid).map(({ pid }) => pid);
      for (const pid of before) process.kill(pid, "SIGKILL");
      await until("another one", () => {
        const now = childrenOf(server.pid).map(({ pid }) => pid);
        return now.length > 0 && now.every((pid) => !before.includes(pid));
      });
      expect(await ask(server, "select 1 as x")).toEqual(one);
      expect(server.logs()).toContain("A query process ended unexpectedly");
    },

  "no signal of a terminal reaches it, and it ends with the server": async (server) => {
    await ask(server, "select 1 as x");
    // It leaves the group of its parent right after its start.
    await until("a query process of its own group", () => {
      const all = childrenOf(server.pid);
      return all.length > 0 && all.every(({ group, pid }) => group === pid);
    });
    const [child] = childrenOf(server.pid);
    expect(await server.stop("SIGTERM")).toBe(0);
    expect(existsSync(`/proc/${child?.pid}`)).toBe(false);
  },

  "it ends when the server is killed, even within the database": async (server) => {
    const asked = ask(server, ENDLESS).catch(() => {});
    await until(
      "a busy process",
      () => childrenOf(server.pid).some(({ cpuTicks }) => cpuTicks > 50),
    );
    const children = childrenOf(server.pid);
    await server.stop("SIGKILL");
    await asked;
    await until("its end", () => children.every(({ pid }) => !existsSync(`/proc/${pid}`)));
  },

  "a query is not too late because the server was stopped meanwhile": async (server) => {
    await ask(server, "select 1 as x");
    const asked = ask(server, "select 1 as x");
    server.signal("SIGSTOP");
    await sleep(4000);
    server.signal("SIGCONT");
    expect(await asked).toEqual(one);
  },
};

describe.skipIf(!hasProc).each<RuntimeName>(["node", "deno"])("on %s", (runtime) => {
  let server: Server;
  beforeEach(async () => {
    server = await startServer({ runtime, settings: { ADMIN__QUERY_ENGINE__TIMEOUT: "3s" } });
  });
  afterEach(async () => await server?.close());

  test.each(Object.entries(promises))("%s", (_, promise) => promise(server));
});

test("a server on Deno that may start nothing serves all but queries, and says why", async () => {
  const server = await startServer({ runtime: "deno", without: /^--allow-run/ });
  const answer = await fetch(`${server.admin}/query`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: "select 1" }),
  });
  expect([answer.status, (await answer.json()).message])
    .toEqual([503, expect.stringContaining("Deno was started without --allow-run=")]);
  expect((await fetch(`${server.admin}/deployments`)).status).toBe(200);
  await server.close();
});

test("frames are the same however a pipe cuts them", () => {
  const frames = fc.array(fc.oneof(
    fc.record({ kind: fc.constant("bytes"), bytes: fc.uint8Array() }),
    fc.record({ kind: fc.constant("json"), value: fc.jsonValue() }),
  ));
  fc.assert(fc.property(frames, fc.integer({ min: 1, max: 50 }), (list, size) => {
    const all = Buffer.concat((list as Frame[]).flatMap(encodeFrame));
    const reader = new FrameReader();
    const read: Frame[] = [];
    for (let at = 0; at < all.length; at += size) {
      read.push(...reader.read(all.subarray(at, at + size)));
    }
    const plain = read.map((frame) =>
      frame.kind === "bytes" ? { ...frame, bytes: [...frame.bytes] } : frame
    );
    const wanted = (list as Frame[]).map((frame) =>
      frame.kind === "bytes" ? { ...frame, bytes: [...frame.bytes] } : frame
    );
    expect(JSON.stringify(plain)).toEqual(JSON.stringify(wanted));
  }));
});

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

interface Process {
  readonly pid: number;
  readonly group: number;
  readonly cpuTicks: number;
}

/** Processes that this one started, as Linux lists them. */
function childrenOf(parent: number | undefined): Process[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [, ppid, group, ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
      const cpuTicks = Number(rest[8]) + Number(rest[9]);
      return Number(ppid) === parent ? [{ pid: Number(pid), group: Number(group), cpuTicks }] : [];
    } catch {
      return [];
    }
  });
}
