import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Locked, openLibsql, openLock } from "../../adapters/libsql/file/open.ts";
import { inlineCommits } from "../../adapters/libsql/file/inline_commits.ts";
import { SqlError } from "../../adapters/libsql/sql_error.ts";
import type { SqlValue } from "../../src/ports.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { denoCommand } from "../support/build.ts";
import { built } from "./_built.ts";
import { storeContract } from "./_contract.ts";
import { sqlDatabase, TINY } from "./_database.ts";

const sql = (text: string, ...args: SqlValue[]) => ({ sql: text, args });
const [deno] = denoCommand();
const child = fileURLToPath(new URL("./_child.ts", import.meta.url));

let worker: URL;
let nodeChild: string;
let folder: string;
let files = 0;
const url = () => pathToFileURL(join(folder, `${++files} % ü.db`)).href;
const open = (url: string) => openLibsql({ url, worker });

beforeAll(async () => {
  worker = built("adapters/libsql/file/worker.ts");
  nodeChild = fileURLToPath(built("test/storage/_child.ts"));
  folder = await mkdtemp(join(tmpdir(), "libsql-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  for (const built of [fileURLToPath(worker), nodeChild]) await rm(built);
});

describe("a file in a thread", () => {
  describe("is a store", () =>
    storeContract(async () => {
      const client = await openLibsql({ url: url(), worker, synchronous: "NORMAL" });
      await migrate(client);
      return sqlDatabase(client, TINY);
    }, 10));

  describe("is a store, with its small commits made inline", () =>
    storeContract(async () => {
      const options = { url: url(), synchronous: "NORMAL" } as const;
      const client = inlineCommits(await openLibsql({ ...options, worker }), options);
      await migrate(client);
      return sqlDatabase(client, TINY);
    }, 10));

  test("makes small commits inline, with the same results as on the worker", async () => {
    const options = { url: url() };
    const onWorker = await open(options.url);
    const handedOver: number[] = [];
    const inline = inlineCommits({
      batch: (
        mode,
        statements,
      ) => (handedOver.push(statements.length), onWorker.batch(mode, statements)),
      isRefused: (cause) => onWorker.isRefused(cause),
      close: () => onWorker.close(),
    }, options);
    await onWorker.batch("write", [sql("create table t (a integer check (a > 0), b)")]);
    const values = [1, Uint8Array.from({ length: 256 }, (_, i) => i).subarray(3, 200)];
    await inline.batch("write", [sql("insert into t values (?1, ?2)", ...values)]);
    expect(handedOver).toEqual([]);
    const [rows] = await inline.batch("read", [sql("select a, b from t")]);
    expect(rows).toEqual([{ a: 1, b: values[1] }]);

    const refused = inline.batch("write", [sql("insert into t values (0, null)")]);
    const cause = await refused.then(() => undefined, (cause: unknown) => cause);
    expect(cause).toBeInstanceOf(SqlError);
    expect(inline.isRefused(cause)).toBe(true);

    handedOver.length = 0;
    const large = sql("insert into t values (2, ?1)", "x".repeat(80_000));
    await Promise.all([
      inline.batch("write", [large]),
      inline.batch("write", [sql("insert into t values (3, null)")]),
    ]);
    expect(handedOver).toEqual([1, 1]);
    await inline.close();
    await expect(inline.batch("read", [sql("select 1")])).rejects.toThrow("closed");
  });

  test("hands commits over for a while after a slow one, and reads after a slow read", async () => {
    const options = { url: url() };
    const onWorker = await open(options.url);
    const handedOver: string[] = [];
    const inline = inlineCommits({
      batch: (mode, statements) => (handedOver.push(mode), onWorker.batch(mode, statements)),
      isRefused: (cause) => onWorker.isRefused(cause),
      close: () => onWorker.close(),
    }, options);
    await onWorker.batch("write", [sql("create table t (a integer)")]);
    const numbers = `with recursive n (i) as (select 1 union all select i + 1 from n where i < 1e6)
      select max(i) as a from n`;
    const read = (text: string) => inline.batch("read", [{ ...sql(text), isQuick: true }]);
    const write = () => inline.batch("write", [sql("insert into t values (1)")]);

    await inline.batch("write", [sql(`insert into t ${numbers}`)]);
    expect(handedOver.splice(0)).toEqual([]);
    await write();
    expect(await read("select a from t where a = 1e6")).toEqual([[{ a: 1e6 }]]);
    expect(handedOver.splice(0)).toEqual(["write"]);
    await read(numbers);
    expect(await read("select a from t where a = 1e6")).toEqual([[{ a: 1e6 }]]);
    expect(handedOver).toEqual(["read"]);

    await inline.close();
    await expect(read("select 1")).rejects.toThrow("closed");
  });

  test("takes and gives values exactly, and leaves buffers with their owner", async () => {
    const client = await open(url());
    const large = new Uint8Array(1000).fill(7);
    const values = [
      "ü\u{1f600}",
      "",
      0,
      -1.5,
      2 ** 53 - 1,
      null,
      Uint8Array.from({ length: 256 }, (_, i) => i),
      new Uint8Array(0),
      large.subarray(10, 12),
    ];
    const [rows] = await client.batch("read", [
      sql(`select ${values.map((_, i) => `?${i + 1} as v${i}`).join(", ")}`, ...values),
    ]);
    expect(Object.values(rows?.[0] ?? {})).toEqual(values);
    expect(large).toEqual(new Uint8Array(1000).fill(7));
    await client.close();
  });

  test("applies batches whole, in order, and says what SQLite said", async () => {
    const client = await open(url());
    await client.batch("write", [sql("create table t (n integer primary key, c check (c = 1))")]);
    const insert = (n: number, c: number) => sql("insert into t values (?1, ?2)", n, c);
    const results = await Promise.allSettled([
      client.batch("write", [insert(1, 1)]),
      client.batch("write", [insert(2, 1), insert(3, 0)]),
      client.batch("write", [insert(4, 1), insert(1, 1)]),
      client.batch("write", [sql("insert into missing values (1)")]),
      client.batch("read", [sql("select n from t"), sql("select count(*) as n from t")]),
    ]);
    expect(results.map(({ status }) => status))
      .toEqual(["fulfilled", "rejected", "rejected", "rejected", "fulfilled"]);
    const causes = results.slice(1, 4).map((one) => one.status === "rejected" && one.reason);
    expect(causes.map((cause) => client.isRefused(cause))).toEqual([true, false, false]);
    expect(causes.every((cause) => cause instanceof SqlError)).toBe(true);
    expect(causes.map(({ code }) => code))
      .toEqual(["SQLITE_CONSTRAINT_CHECK", "SQLITE_CONSTRAINT_PRIMARYKEY", "SQLITE_ERROR"]);
    expect(results[4]).toMatchObject({ value: [[{ n: 1 }], [{ n: 1 }]] });
    await client.close();
  });

  test("is durable by default and gives space back", async () => {
    const client = await open(url());
    const [mode, synchronous, vacuum] = await client.batch("read", [
      sql("pragma journal_mode"),
      sql("pragma synchronous"),
      sql("pragma auto_vacuum"),
    ]);
    expect([mode, synchronous, vacuum])
      .toEqual([[{ journal_mode: "wal" }], [{ synchronous: 2 }], [{ auto_vacuum: 2 }]]);
    await client.close();
  });

  test("rejects when the disk is full, and goes on when there is room", async () => {
    const client = await open(url());
    await client.batch("write", [sql("create table t (b blob)")]);
    await client.batch("read", [sql("pragma max_page_count = 20")]);
    const fill = () => client.batch("write", [sql("insert into t values (zeroblob(200000))")]);
    await expect(fill()).rejects.toMatchObject({ name: "SqlError", code: "SQLITE_FULL" });
    await client.batch("read", [sql("pragma max_page_count = 2000")]);
    await fill();
    await client.close();
  });

  test("rejects what cannot be opened, and what is asked after close", async () => {
    await expect(open("file:///nowhere/at/all.db")).rejects.toBeInstanceOf(SqlError);
    const client = await open(url());
    const last = client.batch("read", [sql("select 1 as one")]);
    await client.close();
    expect(await last).toEqual([[{ one: 1 }]]);
    await expect(client.batch("read", [sql("select 1")])).rejects.toBeInstanceOf(SqlError);
    await client.close();
  });

  test("does not hold up the main thread", async () => {
    const client = await open(url());
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    await client.batch("read", [sql(
      "with recursive n(i) as (select 1 union all select i + 1 from n where i < 500000) " +
        "select sum(i) as s from n",
    )]);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(3);
    await client.close();
  });

  test("a file shrinks after deletions", async () => {
    const client = await open(url());
    await migrate(client);
    const count = async (): Promise<number> => {
      const [[row] = []] = await client.batch("read", [sql("pragma page_count")]);
      return Number(row?.["page_count"]);
    };
    await client.batch("write", [
      sql("insert into deployment values ('x', zeroblob(30000000))"),
      sql("delete from deployment"),
    ]);
    const before = await count();
    for (let i = 0; i < 64 * 4; i++) await client.batch("write", [sql("delete from deployment")]);
    // The last of it goes after the answer, and a question may come first.
    await expect.poll(count, { timeout: 10_000 }).toBeLessThanOrEqual(before - 4 * 256);
    await client.close();
  });
});

describe.each([["node", ""], ["deno", ""]])("a process on %s", (runtime) => {
  const start = (...args: string[]) =>
    runtime === "node"
      ? spawn(process.execPath, [nodeChild, ...args])
      : spawn(deno, ["run", "-A", child, ...args]);
  const workerArg = () => runtime === "node" ? [worker.href] : [];

  test("holds the lock against others until it is killed", async () => {
    const file = join(folder, `${runtime}.lock`);
    const holder = start("lock", file);
    try {
      expect(await nextLine(holder)).toBe("held");
      await expect(openLock(file)).rejects.toBeInstanceOf(Locked);
      await expect(openLock(file)).rejects.toMatchObject({ code: "RT0005" });
      const second = start("lock", file);
      expect(await nextLine(second)).toBe("Locked");
      await ended(second);
    } finally {
      holder.kill("SIGKILL");
      await ended(holder);
    }
    const lock = await openLock(file);
    const third = start("lock", file);
    expect(await nextLine(third)).toBe("Locked");
    await ended(third);
    await lock.close();
    const fourth = start("lock", file);
    expect(await nextLine(fourth)).toBe("held");
    fourth.stdin?.write("go\n");
    expect(await nextLine(fourth)).toBe("released");
    await (await openLock(file)).close();
    fourth.kill();
    await ended(fourth);
  }, 60_000);

  test("loses no acknowledged commit when it is killed", async () => {
    const address = url();
    const writer = start("commit", address, ...workerArg());
    const lines = createInterface({ input: writer.stdout });
    let last = -1;
    for await (const line of lines) {
      last = Number(line);
      if (last >= 100) writer.kill("SIGKILL");
    }
    await ended(writer);
    const reader = start("load", address, ...workerArg());
    const found = Number(await nextLine(reader));
    await ended(reader);
    expect(last).toBeGreaterThanOrEqual(100);
    expect([last + 1, last + 2]).toContain(found);
  }, 60_000);
});

function nextLine(process: ChildProcess): Promise<string> {
  let said = "";
  return new Promise((resolve, reject) => {
    process.stderr?.on("data", (chunk) => said += chunk);
    process.once("exit", (code) => reject(new Error(`ended with ${code}: ${said}`)));
    process.stdout?.once("data", (chunk) => resolve(String(chunk).trim()));
  });
}

function ended(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => process.once("exit", () => resolve()));
}
