import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { Checkpoints, type WriteAheadLog } from "../../adapters/libsql/file/checkpoints.ts";
import { folderKeyOf } from "../../adapters/libsql/file/folder_key.ts";
import { openLocal } from "../../adapters/libsql/file/local_client.ts";
import type { SqlClient, SqlValue } from "../../src/ports.ts";

const folder = mkdtempSync(path.join(tmpdir(), "checkpoints-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

const sql = (text: string, ...args: SqlValue[]) => ({ sql: text, args });
const MIB = 1024 * 1024;
const VALUE = new Uint8Array(64 * 1024).fill(7);
/** 6 MiB: more pages than a checkpoint begins with, and fewer than SQLite makes one by itself with. */
const VALUES = 96;
/** More than a checkpoint begins with. */
const LEFT_MIB = 5;
const POLL = { timeout: 10_000 };

async function opened(file: string, databaseKey?: string): Promise<SqlClient> {
  return await openLocal({ url: pathToFileURL(file).href, databaseKey }, true);
}

/** Each a commit, with a turn of the event loop, as requests to the thread have. */
async function write(client: SqlClient): Promise<void> {
  for (let n = 0; n < VALUES; n++) {
    await client.batch("write", [sql("insert into held (bytes) values (?)", VALUE)]);
    await setImmediate();
  }
}

async function expectWhole(client: SqlClient, rows: number): Promise<void> {
  const [counted, checked] = await client.batch("read", [
    sql("select count(*) as n from held where length(bytes) = 65536"),
    sql("pragma integrity_check"),
  ]);
  expect(counted).toEqual([{ n: rows }]);
  expect(checked).toEqual([{ integrity_check: "ok" }]);
}

describe.each([["a file", undefined], ["an encrypted file", folderKeyOf("secret").databaseKey]])(
  "%s",
  (_name, key) => {
    test("gets what was committed without a commit that waits, and its log begins anew", async () => {
      const file = path.join(folder, `${++files}.db`);
      const client = await opened(file, key);
      await client.batch("write", [sql("create table held (bytes blob)")]);
      const rounds = 8;
      for (let round = 1; round <= rounds; round++) {
        await write(client);
        await expect.poll(() => statSync(file).size, POLL).toBeGreaterThan(
          (6 * round - LEFT_MIB) * MIB,
        );
      }
      // A log that only grew would have all of the 48 MiB.
      expect(statSync(`${file}-wal`).size).toBeLessThan(24 * MIB);
      await expectWhole(client, rounds * VALUES);
      await client.close();
      const again = await opened(file, key);
      await expectWhole(again, rounds * VALUES);
      await again.close();
    });

    test("may be closed while a checkpoint is running", async () => {
      const file = path.join(folder, `${++files}.db`);
      const times = 10;
      for (let n = 0; n < times; n++) {
        const client = await opened(file, key);
        await client.batch("write", [sql("create table if not exists held (bytes blob)")]);
        await write(client);
        await Promise.all([client.close(), client.close()]);
        await expect(client.batch("read", [sql("select 1")])).rejects.toThrow("closed");
      }
      const client = await opened(file, key);
      await expectWhole(client, times * VALUES);
      await client.close();
    });
  },
);

/** A log whose copying waits for `copied`, and a clock. */
function tried() {
  const calls: string[] = [];
  const state = { now: 0, fails: false, copied: () => {} };
  const log: WriteAheadLog = {
    copyBeside: async () => {
      calls.push("beside");
      await new Promise<void>((resolve) => state.copied = resolve);
      if (state.fails) throw new Error("disk I/O error");
    },
    copyRest: () => void calls.push("rest"),
    close: () => void calls.push("close"),
  };
  return { calls, state, checkpoints: new Checkpoints(log, () => state.now) };
}

describe("a checkpoint", () => {
  test("begins once much was written, one at a time, and ends with the rest", async () => {
    const { calls, state, checkpoints } = tried();
    checkpoints.afterWrite(MIB);
    expect(calls).toEqual([]);
    checkpoints.afterWrite(MIB);
    checkpoints.afterWrite(8 * MIB);
    expect(calls).toEqual(["beside"]);
    const closed = checkpoints.close();
    await setImmediate();
    expect(calls).toEqual(["beside"]);
    state.copied();
    await closed;
    expect(calls).toEqual(["beside", "rest", "close"]);
  });

  test("begins after many small writes", () => {
    const { calls, checkpoints } = tried();
    for (let n = 0; n < 100; n++) checkpoints.afterWrite(100);
    expect(calls).toEqual([]);
    for (let n = 0; n < 30; n++) checkpoints.afterWrite(100);
    expect(calls).toEqual(["beside"]);
  });

  test("that fails is tried again after a second", async () => {
    const { calls, state, checkpoints } = tried();
    state.fails = true;
    checkpoints.afterWrite(8 * MIB);
    state.copied();
    await setImmediate();
    state.now = 999;
    checkpoints.afterWrite(1);
    expect(calls).toEqual(["beside"]);
    [state.now, state.fails] = [1000, false];
    checkpoints.afterWrite(1);
    state.copied();
    await checkpoints.close();
    expect(calls).toEqual(["beside", "beside", "rest", "close"]);
  });
});
