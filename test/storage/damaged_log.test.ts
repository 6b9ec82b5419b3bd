import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { Write } from "../../src/model/rows.ts";
import type { SqlClient, SqlValue } from "../../src/ports.ts";
import { xxh32 } from "../../src/storage/codec/checksum.ts";
import type { Loss } from "../../src/storage/log/recover.ts";
import { SqlStore, type SqlStoreOptions } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";

const PARTITION = 3;
const LOG_FROM = PARTITION * 2 ** 40;

const put = (object: string, value: number): Write => ({
  table: "state",
  row: { object, name: "n", value: Uint8Array.of(value, value) },
  drop: false,
});

let client: SqlClient;
beforeEach(async () => {
  client = await openLibsql({ url: ":memory:" });
  await migrate(client);
});
afterEach(() => client.close());

const sql = (text: string, ...args: SqlValue[]) => client.batch("write", [{ sql: text, args }]);

/** Four commits of two rows each, which stay in the log: rows 1 and 2 of it, 3 and 4, and so on. */
async function commitFour(): Promise<void> {
  const store = new SqlStore(client, { rowBytesMax: 1 });
  const lease = await store.claim(PARTITION);
  for (const value of [1, 2, 3, 4]) {
    await store.commit(lease, [put("a", value), put(`only ${value}`, value)]);
  }
  await store.close();
}

/** What a new owner finds of each of the objects. */
async function found(options: SqlStoreOptions = {}): Promise<unknown[]> {
  const store = new SqlStore(client, options);
  const lease = await store.claim(PARTITION);
  const groups = ["a", "only 1", "only 2", "only 3", "only 4"];
  const loaded = await store.load(lease, groups.map((group) => ({ table: "state", group })));
  return loaded.map(({ rows: [row] }) => row && "value" in row ? row.value?.[0] : undefined);
}

const damages: Readonly<Record<string, readonly [statement: string, problem: RegExp]>> = {
  "a flipped bit in its JSON": [
    "update log set rows = replace(rows, 'only 3', 'only 2') where place = ?1",
    /its content does not match its checksum/,
  ],
  "a flipped bit in its bytes": [
    "update log set bytes = x'0303ff' where place = ?1",
    /its content does not match its checksum/,
  ],
  "the content of another row": [
    `update log set (rows, bytes, sum) = (select rows, bytes, sum from log where place = ?1 - 2)
      where place = ?1`,
    /its content does not match its checksum/,
  ],
  "columns of another type": ["update log set bytes = 'text' where place = ?1", /wrong types/],
  "nothing: it is missing": ["delete from log where place = ?1", /1 rows before it are missing/],
};

describe.each(Object.entries(damages))(
  "a row of the log that holds %s",
  (_, [statement, problem]) => {
    beforeEach(async () => {
      await commitFour();
      await sql(statement, LOG_FROM + 6);
    });

    test("is refused, again and again, and nothing is given up", async () => {
      for (let again = 0; again < 2; again++) {
        const cause = await found().catch((cause: unknown) => cause);
        expect(cause).toMatchObject({ code: "RT0028", message: expect.stringMatching(problem) });
        expect(String(cause)).toMatch(/row [67] of the log of partition 3/);
      }
      const [[left] = []] = await sql(
        "select count(*) as n from log where place > ?1",
        LOG_FROM + 4,
      );
      expect(left?.["n"]).toBeGreaterThanOrEqual(3);
    });

    test("is given up with all that was committed since, when that is asked for", async () => {
      const losses: Loss[] = [];
      expect(await found({ acceptLoss: (loss) => losses.push(loss) }))
        .toEqual([2, 1, 2, undefined, undefined]);
      expect(losses).toEqual([{
        partition: PARTITION,
        problem: expect.stringMatching(problem),
        rows: /missing/.test(problem.source) ? 3 : 4,
        keys: expect.arrayContaining(["state a", "state only 4"]),
      }]);
      expect(await found()).toEqual([2, 1, 2, undefined, undefined]);
    });
  },
);

test("a log that ends within a commit is refused", async () => {
  await commitFour();
  await sql("delete from log where place = ?1", LOG_FROM + 8);
  await expect(found()).rejects.toMatchObject({
    code: "RT0028",
    message: expect.stringContaining("1 more rows of its last commit are missing"),
  });
});

test("rows that an earlier version wrote have no checksum, and are read all the same", async () => {
  await commitFour();
  await sql("update log set sum = null");
  expect(await found()).toEqual([4, 1, 2, 3, 4]);
});

test("rows without checksum that cannot be decoded are refused", async () => {
  await commitFour();
  await sql("update log set sum = null, rows = '[[' where place = ?1", LOG_FROM + 6);
  await expect(found()).rejects.toMatchObject({ code: "RT0028" });
});

test.each([
  ["", 0, 0x02cc5d05],
  ["a", 0, 0x550d7456],
  ["abc", 0, 0x32d153ff],
  ["Nobody inspects the spammish repetition", 0, 0xe2293b2f],
])("XXH32 of %j is what other implementations say", (text, seed, sum) => {
  expect(xxh32(new TextEncoder().encode(text), seed)).toBe(sum);
});
