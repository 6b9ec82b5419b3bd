import { cpSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Servers } from "../growth/_servers.ts";
import { mustRun, runTool, startTool } from "../growth/_tool.ts";
import { type Child, until } from "../support/child.ts";
import { register, value } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import type { Server } from "../support/server.ts";

const CALLS = 40;
const { at, start } = new Servers();
const children: Child[] = [];
let endpoint: Endpoint;
let copies = 0;

const file = (folder: string, name: string) => path.join(folder, name);
const flags = (folder: string) => [
  ...["--base-dir", folder, "--ingress.bind-port", "0", "--admin.bind-port", "0"],
];

/** A folder whose server was killed after it acknowledged `CALLS` calls. */
async function killed(name: string, settings: Record<string, string> = {}): Promise<string> {
  const server = await start(at(name), settings);
  await register(server, endpoint);
  await count(server);
  await server.stop("SIGKILL");
  return at(name);
}

async function count(server: Server): Promise<void> {
  for (let i = 0; i < CALLS; i++) await value(server, `Counter/k${i % 4}/add`, 1);
}

function copyOf(folder: string): string {
  const copy = at(`copy-${++copies}`);
  cpSync(folder, copy, { recursive: true });
  return copy;
}

/** What a server says that does not start. */
async function refusal(folder: string): Promise<string> {
  const { end, output } = await runTool(flags(folder));
  expect(end).toBe(1);
  return output;
}

/** A server that starts in spite of what it lacks, and what it has said until it was ready. */
async function accepting(folder: string): Promise<string> {
  const child = startTool([...flags(folder), "--accept-loss"]);
  children.push(child);
  await until("the server to be ready", () => {
    if (!child.isAlive()) throw new Error(`The server ended: ${child.output()}`);
    return child.output().includes("is ready");
  }, 20_000);
  return child.output();
}

let one: string;
let three: string;
beforeAll(async () => {
  endpoint = await startEndpoint("h2");
  one = await killed("one");
  three = await killed("three", { DEFAULT_NUM_PARTITIONS: "3", STORAGE__DATABASES: "each" });
}, 60_000);
afterAll(() => endpoint.close());
afterEach(async () => {
  for (const child of children.splice(0)) await child.stop();
});

describe("a folder that lacks what was acknowledged is refused, until the loss is accepted", () => {
  const flip = (name: string) => {
    const bytes = readFileSync(name);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(name, bytes);
  };
  const cases: Readonly<Record<string, readonly [damage: (folder: string) => void, RegExp]>> = {
    "its database is missing": [
      (folder) => rmSync(file(folder, "perdure.db")),
      /RT0027.*"perdure.db".*missing/,
    ],
    "its database is empty": [
      (folder) => truncateSync(file(folder, "perdure.db")),
      /RT0027.*"perdure.db".*empty/,
    ],
    "its write-ahead log is missing": [
      (folder) => rmSync(file(folder, "perdure.db-wal")),
      /RT0027.*"perdure.db"/,
    ],
    "its write-ahead log is cut in half": [
      (folder) => {
        const name = file(folder, "perdure.db-wal");
        truncateSync(name, readFileSync(name).length >> 1);
      },
      /RT0027.*"perdure.db"/,
    ],
    "a bit of its write-ahead log flipped": [
      (folder) => flip(file(folder, "perdure.db-wal")),
      /RT0027.*"perdure.db"/,
    ],
  };

  test.each(Object.entries(cases))("%s", async (_, [damage, message]) => {
    const folder = copyOf(one);
    damage(folder);
    for (let again = 0; again < 2; again++) {
      const output = await refusal(folder);
      expect(output).toMatch(message);
      expect(output).toContain("--accept-loss");
    }
    expect(await accepting(folder)).toContain("Starting without data that was acknowledged");
    await children.pop()?.stop();
    // What was accepted once is not asked for again.
    const server = await start(folder);
    await register(server, endpoint);
    await count(server);
  }, 60_000);

  test("one of its databases is missing", async () => {
    const folder = copyOf(three);
    rmSync(file(folder, "perdure-1.db"));
    expect(await refusal(folder)).toMatch(/RT0027.*"perdure-1.db".*missing/);
    expect(await accepting(folder)).toContain("Starting without data that was acknowledged");
  }, 60_000);

  test("the first of its databases is missing: the others stay", async () => {
    const folder = copyOf(three);
    for (const end of ["", "-wal", "-shm"]) rmSync(file(folder, `perdure.db${end}`));
    expect(await refusal(folder)).toMatch(/RT0027.*"perdure.db".*missing/);
    await accepting(folder);
    await children.pop()?.stop("SIGTERM");
    const server = await start(folder);
    await register(server, endpoint);
    const counts = await Promise.all([0, 1, 2, 3].map((i) => value(server, `Counter/k${i}/get`)));
    expect(counts).toContain(CALLS / 4);
  }, 60_000);

  test("its database was replaced by an older copy", async () => {
    const folder = copyOf(one);
    const older = copyOf(folder);
    const server = await start(folder);
    await count(server);
    await server.stop("SIGTERM");
    for (const end of ["-wal", "-shm"]) {
      rmSync(file(folder, `perdure.db${end}`), { force: true });
    }
    for (const end of ["", "-wal"]) {
      cpSync(file(older, `perdure.db${end}`), file(folder, `perdure.db${end}`));
    }
    expect(await refusal(folder)).toMatch(/RT0027.*epoch 1 of partition 0.*epoch 2 was served/);
  }, 60_000);

  test("its database has none of our tables, or cannot be read", async () => {
    const folder = copyOf(one);
    for (const end of ["-wal", "-shm"]) rmSync(file(folder, `perdure.db${end}`));
    cpSync(file(folder, "perdure.lock"), file(folder, "perdure.db"));
    expect(await refusal(folder)).toMatch(/RT0027.*"perdure.db"/);
    writeFileSync(file(folder, "perdure.db"), "x".repeat(8192));
    expect(await refusal(folder)).toMatch(/RT0028.*perdure.db": file is not a database/);
  }, 60_000);

  test("the pages of its database are zero", async () => {
    const folder = copyOf(one);
    await (await start(folder)).stop("SIGTERM");
    const name = file(folder, "perdure.db");
    writeFileSync(name, readFileSync(name).fill(0, 4096));
    expect(await refusal(folder)).toMatch(/RT0028.*malformed.*perdure verify/);
  }, 60_000);
});

describe("a folder that lacks nothing is not refused", () => {
  async function serves(folder: string): Promise<void> {
    const server = await start(folder);
    expect(await value(server, "Counter/k1/get")).toBe(CALLS / 4);
    await server.stop("SIGKILL");
  }

  test("after kill -9, and again, and after an orderly stop", async () => {
    const folder = copyOf(three);
    await serves(folder);
    await serves(folder);
    const server = await start(folder);
    await server.stop("SIGTERM");
    await serves(folder);
  }, 60_000);

  test("as a backup, also in the place of the original", async () => {
    const folder = copyOf(three);
    const server = await start(folder);
    await mustRun(["backup", "--base-dir", folder, "--to", at("backup")]);
    await value(server, "Counter/k0/add", 1);
    await server.stop("SIGTERM");
    rmSync(folder, { recursive: true });
    renameSync(at("backup"), folder);
    await serves(folder);
    truncateSync(file(folder, "perdure-2.db"));
    expect(await refusal(folder)).toMatch(/RT0027.*"perdure-2.db".*empty/);
  }, 60_000);

  test("when its marks are missing or damaged: it gets new ones", async () => {
    const folder = copyOf(one);
    rmSync(file(folder, "perdure.marks"));
    await serves(folder);
    writeFileSync(file(folder, "perdure.marks"), "x".repeat(200));
    await serves(folder);
    expect(readFileSync(file(folder, "perdure.marks"), "latin1")).toMatch(/^perdure 1 FULL .*\n/);
  }, 60_000);

  test("when its first start was cut off before it had a database", async () => {
    const folder = copyOf(one);
    for (const end of ["", "-wal", "-shm"]) rmSync(file(folder, `perdure.db${end}`));
    rmSync(file(folder, "perdure.marks"));
    writeFileSync(file(folder, "perdure.json"), `{"format":1,"madeBy":"0.1.0"}\n`);
    await (await start(folder)).stop();
  }, 60_000);
});

describe("a server whose files are taken away ends, and says so", () => {
  const takings: Readonly<Record<string, (folder: string) => void>> = {
    "its folder is removed": (folder) => rmSync(folder, { recursive: true }),
    "its folder is renamed": (folder) => renameSync(folder, `${folder}.moved`),
    "its database is replaced": (folder) => {
      cpSync(file(folder, "perdure.db"), file(folder, "other.db"));
      renameSync(file(folder, "other.db"), file(folder, "perdure.db"));
    },
    "its write-ahead log is removed": (folder) => rmSync(file(folder, "perdure.db-wal")),
  };

  test.each(Object.entries(takings))("%s", async (_, take) => {
    const folder = copyOf(one);
    const child = startTool(flags(folder));
    children.push(child);
    await until("it to be ready", () => child.output().includes("is ready"), 20_000);
    take(folder);
    expect(await child.ended()).toBe(1);
    expect(child.output()).toMatch(/RT0029.*perdure.* is gone, or another file has its name/);
  }, 60_000);
});
