import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { folderKeyOf } from "../../adapters/libsql/file/folder_key.ts";
import { openLocal } from "../../adapters/libsql/file/local_client.ts";
import { QueryConnection } from "../../adapters/libsql/query/database.ts";
import { filesWith } from "../conformance/_clear_text.ts";

const LIMITS = { timeMs: 1e9, rowsMax: 1e9, memoryBytesMax: 1e9, spoolBytesMax: 2 ** 26 };
const MARK = "Zz9mArKeDrOwZzZ";
/** More than the cache of a query holds. */
const ROWS = 60_000;
const { databaseKey } = folderKeyOf("a key of the folder ".repeat(2));

let root: string;
let files = 0;
beforeAll(() => void (root = mkdtempSync(path.join(tmpdir(), "query-key-"))));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A file with marked rows. */
async function fileWith(key: string | undefined) {
  const url = pathToFileURL(path.join(root, `${files++}.db`)).href;
  const client = await openLocal({ url, databaseKey: key });
  const fill = `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${ROWS})
    insert into marked select '${MARK}' || i || hex(zeroblob(100)) from n`;
  await client.batch("write", [{ sql: "create table marked (value)", args: [] }]);
  await client.batch("write", [{ sql: fill, args: [] }]);
  await client.close();
  return { kind: "file", url, ...(key !== undefined && { databaseKey: key }) } as const;
}

const linux = process.platform === "linux";

describe.each([["with a key", databaseKey], ["without", undefined]])("%s", (_, key) => {
  test.runIf(linux)("what a query sorts and copies is on disk only in clear files", async () => {
    const connection = await QueryConnection.open(await fileWith(key), LIMITS);
    const open = () => filesWith(MARK, { folders: [], pids: [process.pid] });
    const before = open();
    await connection.run("create table copy as select * from store.marked order by value desc");
    await connection.run("create temp table later as select * from store.marked");
    const [[count] = []] = await connection.rows("select count(*) from later");
    expect(count).toBe(BigInt(ROWS));
    const written = open().filter((name) => !before.includes(name));
    expect(written.length > 0).toBe(key === undefined);
    await connection.run("drop table later");
    expect(await connection.end()).toBeTypeOf("boolean");
    connection.close();
  }, 30_000);
});

test("a copy that grows beyond the limit fails with it, also in memory", async () => {
  const limits = { ...LIMITS, spoolBytesMax: 2 ** 20 };
  const connection = await QueryConnection.open(await fileWith(databaseKey), limits);
  await expect(connection.run("create table copy as select * from store.marked"))
    .rejects.toThrow("result-size");
  connection.close();
});

test("a file is not opened with another key, nor without", async () => {
  const file = await fileWith(databaseKey);
  for (const other of [folderKeyOf("another key").databaseKey, undefined]) {
    await expect(QueryConnection.open({ ...file, databaseKey: other }, LIMITS))
      .rejects.toThrow("file is not a database");
  }
});
