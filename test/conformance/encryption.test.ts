import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { call, manage, query, register, value } from "../support/client.ts";
import { freePorts, until } from "../support/child.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type RuntimeName, Server } from "../support/server.ts";
import { mustRun } from "../growth/_tool.ts";
import { familyOf, filesWith, textOf } from "./_clear_text.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const KEY = "k3y-".repeat(12);
const MARK = "Zz9mArKeDtExTzZ";
/** What each text is of. All of them are in the files of a folder without key. */
const MARKS = {
  input: `${MARK}-input`,
  result: `Hello ${MARK}-input`,
  state: `${MARK}-state`,
  object: `${MARK}-object`,
  idempotency: `${MARK}-idempotency`,
  large: `${MARK}-large`,
  spooled: `${MARK}-spooled`,
  header: `${MARK}-header`,
  password: `${MARK}-password`,
};
/** More than an answer's first part and the cache of a query hold. */
const SPOOLED = 60, SPOOLED_CHARACTERS = 100_000;
/** More than a commit takes at once. */
const LARGE_CHARACTERS = 3 * 1024 * 1024;

let endpoint: Endpoint;
const root = mkdtempSync(path.join(tmpdir(), "encryption-"));
beforeAll(async () => void (endpoint = await startEndpoint("h2")));
afterAll(async () => {
  vi.unstubAllEnvs();
  await endpoint.close();
  rmSync(root, { recursive: true, force: true });
});

const filler = (text: string, length: number) => text + ".".repeat(length);

/** Leaves every kind of data. */
async function play(server: Server): Promise<void> {
  const headers = { additional_headers: { "x-api-key": MARKS.header } };
  expect((await register(server, endpoint, headers)).status).toBe(201);
  await value(server, "Greeter/greet", MARKS.input);
  await value(server, `Counter/${MARKS.object}/append`, MARKS.state);
  await value(server, "Greeter/greet", filler(MARKS.large, LARGE_CHARACTERS));
  expect((await add(server)).body).toBe(1);
  for (let i = 0; i < SPOOLED; i++) {
    await value(server, "Greeter/greet", filler(MARKS.spooled, SPOOLED_CHARACTERS));
  }
  const properties = {
    "bootstrap.servers": "127.0.0.1:9",
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "u",
    "sasl.password": MARKS.password,
  };
  const cluster = { name: "c", properties };
  expect((await manage(server, "POST /kafka-clusters", cluster)).status).toBe(201);
}

const add = (server: Server) =>
  call(server, "Counter/k/add", 1, { headers: { "idempotency-key": MARKS.idempotency } });

/** Begins a large query and does not read on, so that its process keeps the rest of the answer. */
async function paused(server: Server): Promise<() => Promise<void>> {
  const answer = await fetch(`${server.admin}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query: "select * from sys_journal order by entry_json desc" }),
  });
  const reader = answer.body!.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toContain("rows");
  return async () => await reader.cancel();
}

interface Kind {
  readonly runtime: RuntimeName;
  readonly databases: "one" | "each";
  readonly key?: string;
}

const KINDS: readonly Kind[] = [
  { runtime: "node", databases: "one" },
  { runtime: "node", databases: "one", key: KEY },
  { runtime: "deno", databases: "each", key: KEY },
];
const only = process.platform === "linux" ? KINDS : [];

describe.each(only)("on $runtime, files: $databases, key: $key", ({ runtime, databases, key }) => {
  const name = `${runtime}-${key === undefined ? "clear" : "key"}`;
  const [data, copy, temporary] = ["data", "copy", "tmp"].map((it) => path.join(root, name, it));
  const folders = [data!, copy!, temporary!];
  const keys = key === undefined ? {} : { STORAGE__ENCRYPTION_KEY: key };
  let server: Server;

  beforeAll(async () => {
    mkdirSync(temporary!, { recursive: true });
    vi.stubEnv("SQLITE_TMPDIR", temporary!);
    const settings = {
      STORAGE__DATABASES: databases,
      DEFAULT_NUM_PARTITIONS: databases === "each" ? "3" : "1",
      ...keys,
    };
    server = new Server({ runtime, settings }, await freePorts(2), data!);
    await server.start();
    await play(server);
  });
  afterAll(() => server?.close());

  /** Which texts are in which files, now. */
  function seen(): Record<string, string[]> {
    const pids = server.isAlive() ? familyOf(server.pid!) : [];
    return Object.fromEntries(
      Object.entries(MARKS).map(([what, text]) => [what, filesWith(text, { folders, pids })]),
    );
  }
  const nothing = Object.fromEntries(Object.keys(MARKS).map((what) => [what, []]));
  const everything = Object.fromEntries(
    Object.keys(MARKS).map((what) => [what, expect.arrayContaining([expect.anything()])]),
  );
  const expected = key === undefined ? everything : nothing;

  test("what callers and operators gave is in no file, also while a query runs", async () => {
    const end = await paused(server);
    expect(seen()).toEqual(expected);
    await end();
  });

  test("a backup of the running server holds what the folder does", async () => {
    const env = key === undefined ? {} : { SVC_STORAGE__ENCRYPTION_KEY: key };
    await mustRun(["backup", "--base-dir", data!, "--to", copy!], { runtime, env });
    await mustRun(["verify", "--base-dir", copy!], { runtime, env });
    const found = (text: string) => filesWith(text, { folders: [copy!], pids: [] }).length > 0;
    for (const text of Object.values(MARKS)) expect([text, found(text)]).toEqual([text, !key]);
  });

  test("a process that is killed goes on, and leaves nothing to read", async () => {
    await server.stop("SIGKILL");
    expect(seen()).toEqual(expected);
    await server.start();
    expect((await add(server)).body).toBe(1);
    expect(await value(server, "Counter/k/get")).toBe(1);
    expect(await value(server, `Counter/${MARKS.object}/words`)).toEqual([MARKS.state]);
    const [row] = await query(server, "select count(*) as n from sys_invocation");
    expect(row?.["n"]).toBeGreaterThan(SPOOLED);
    await server.stop("SIGTERM");
    expect(seen()).toEqual(expected);
    await server.start();
  });

  test("the key is told to nobody who reads processes, logs or answers", async () => {
    if (key === undefined) return;
    expect(await query(server, "SELECT 1 AS x")).toEqual([{ x: 1 }]);
    await until("a process for queries", () => familyOf(server.pid!).length > 1, 20_000);
    const [own, ...others] = familyOf(server.pid!);
    expect(textOf(own!, "environ")).toContain(key);
    for (const pid of others) expect(textOf(pid, "environ")).not.toContain(key);
    for (const pid of [own!, ...others]) expect(textOf(pid, "cmdline")).not.toContain(key);
    const metrics = await (await fetch(`${server.admin}/metrics`)).text();
    expect(metrics + server.logs()).not.toContain(key);
    expect(filesWith(key, { folders, pids: familyOf(server.pid!) })).toEqual([]);
  });

  test("another key, no key, or a key too many is refused, and nothing is lost", async () => {
    await server.stop("SIGTERM");
    const others = key === undefined
      ? [[KEY, "it is not encrypted, and a key is set"]]
      : [[`${key}x`, "it is encrypted with another key"], [
        "",
        "it is encrypted, and no key is set",
      ]];
    for (const [other = "", why] of others) {
      const { end, output } = await server.rival({ STORAGE__ENCRYPTION_KEY: other });
      expect([end, output]).toEqual([1, expect.stringContaining(`[RT0036] Cannot use`)]);
      expect(output).toContain(why);
      if (other !== "") expect(output).not.toContain(other);
    }
    await server.start();
    expect((await add(server)).body).toBe(1);
  });
});
