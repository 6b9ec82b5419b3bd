import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { Write } from "../../src/model/rows.ts";
import { Unreadable } from "../../src/model/unreadable.ts";
import type { Lease, SqlClient, SqlRow, Statement } from "../../src/ports.ts";
import { SqlStore, type SqlStoreOptions } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";

const OPTIONS: SqlStoreOptions = { pieceBytes: 1000, refBytesMin: 100 };
const value = Uint8Array.from({ length: 4500 }, (_, i) => i * 7 % 256);
const whole = { table: "state", group: "o" } as const;

function put(name: string, bytes: Uint8Array, object = "o"): Write<"state"> {
  return { table: "state", row: { object, name, value: bytes }, drop: false };
}

const drop = (name: string): Write<"state"> => ({ ...put(name, new Uint8Array()), drop: true });

let client: SqlClient;
beforeEach(async () => {
  client = await openLibsql({ url: ":memory:" });
  await migrate(client);
});
afterEach(() => client.close());

async function ask(sql: string): Promise<SqlRow[]> {
  const [rows = []] = await client.batch("read", [{ sql, args: [] }]);
  return [...rows];
}

/** A commit that has nothing to do with values, and a fold of all that was committed. */
async function fold(store: SqlStore, lease: Lease): Promise<void> {
  await store.commit(lease, [put("other", new Uint8Array(1), "p")]);
  await store.flush(lease);
}

const pieces = async () =>
  (await ask("select id, count(*) as n from large_piece group by id order by id"))
    .map(({ id, n }) => [id, n]);

test("a staged value is in the log and in the tables as a reference, and is read as it was", async () => {
  const store = new SqlStore(client, OPTIONS);
  const lease = await store.claim(0);
  const release = await store.stage(lease, value);
  await store.commit(lease, [put("all", value), put("part", value.subarray(300, 4000))]);
  expect(await ask("select sum(octet_length(bytes)) as n from log")).toEqual([{ n: null }]);
  expect(await ask("select sum(octet_length(bytes)) as n from large_piece")).toEqual([{ n: 4500 }]);
  release();
  const rows = [put("all", value).row, put("part", value.slice(300, 4000)).row];
  expect((await store.load(lease, [whole]))[0]?.rows).toEqual(rows);
  await store.flush(lease);
  expect(await ask("select name, octet_length(value) as n, large from state order by name"))
    .toEqual([
      { name: "all", n: 0, large: '["0/1/1",0,4500]' },
      { name: "part", n: 0, large: '["0/1/1",300,3700]' },
    ]);
  expect((await store.load(lease, [whole]))[0]?.rows).toEqual(rows);
  const views = await ask("select value, size from whole_state order by name");
  expect(views).toEqual(rows.map(({ value }) => ({ value, size: value.length })));
});

test("a value outlives its process before and after it is folded", async () => {
  for (const isFolded of [false, true]) {
    const store = new SqlStore(client, OPTIONS);
    const lease = await store.claim(0);
    await store.stage(lease, value);
    await store.commit(lease, [put("a", value)]);
    if (isFolded) await store.flush(lease);
    const next = new SqlStore(client, OPTIONS);
    const loaded = await next.load(await next.claim(0), [whole]);
    expect(loaded[0]?.rows).toEqual([put("a", value).row]);
  }
});

test("other commits go between the pieces of a value", async () => {
  const order: string[] = [];
  const commits: Promise<void>[] = [];
  const onPiece = () => {
    commits.push(store.commit(lease, [put(`n${commits.length}`, value.slice(0, 9))]));
  };
  const watched: SqlClient = {
    batch: (mode, statements) => {
      const text = statements.map(({ sql }: Statement) => sql).join();
      if (text.includes("into large_piece")) order.push("piece"), onPiece();
      if (text.includes("into log")) order.push("commit");
      return client.batch(mode, statements);
    },
    isRefused: (cause) => client.isRefused(cause),
    close: () => client.close(),
  };
  const store = new SqlStore(watched, OPTIONS);
  const lease = await store.claim(0);
  await store.stage(lease, value);
  await Promise.all(commits);
  expect(order).toEqual(Array(5).fill(["piece", "commit"]).flat());
});

test("pieces are deleted with the last row that refers to them, and not before", async () => {
  const store = new SqlStore(client, OPTIONS);
  const lease = await store.claim(0);
  const release = await store.stage(lease, value);
  await store.commit(lease, [put("a", value), put("b", value)]);
  release();
  await store.flush(lease);
  await store.commit(lease, [drop("a")]);
  for (let i = 0; i < 2; i++) await fold(store, lease);
  expect(await pieces()).toEqual([["0/1/1", 5]]);
  await store.commit(lease, [put("b", value.slice(0, 2))]);
  await store.flush(lease);
  await fold(store, lease);
  expect(await pieces()).toEqual([]);
});

test("a value without a commit is deleted, and one that is referred to again is kept", async () => {
  const store = new SqlStore(client, OPTIONS);
  const lease = await store.claim(0);
  const stale = value.slice(), again = value.slice();
  (await store.stage(lease, stale))();
  const release = await store.stage(lease, again);
  await store.commit(lease, [put("a", again)]);
  await store.flush(lease);
  // No row of the tables refers to it at the end of this fold, but a commit may still do.
  await store.commit(lease, [drop("a")]);
  for (let i = 0; i < 2; i++) await fold(store, lease);
  expect(await pieces()).toEqual([["0/1/2", 5]]);
  await store.commit(lease, [put("b", again)]);
  release();
  for (let i = 0; i < 3; i++) await fold(store, lease);
  expect((await store.load(lease, [whole]))[0]?.rows).toEqual([put("b", value).row]);
  expect(await pieces()).toEqual([["0/1/2", 5]]);
});

test("a claim deletes what the last owner staged and never committed, of its own partition", async () => {
  const store = new SqlStore(client, OPTIONS);
  for (const partition of [1, 10]) await store.stage(await store.claim(partition), value);
  expect(await pieces()).toEqual([["1/1/1", 5], ["10/1/1", 5]]);
  await new SqlStore(client, OPTIONS).claim(1);
  expect(await pieces()).toEqual([["10/1/1", 5]]);
});

test("nothing is staged for a lease that is lost", async () => {
  const old = new SqlStore(client, OPTIONS);
  const lease = await old.claim(0);
  await new SqlStore(client, OPTIONS).claim(0);
  await expect(old.stage(lease, value)).rejects.toMatchObject({ name: "Fenced" });
  expect(await pieces()).toEqual([]);
});

const DAMAGE = {
  "holds other bytes": "update large_piece set bytes = zeroblob(1000) where seq = 2",
  "lacks a piece": "delete from large_piece where seq = 2",
  "lacks its last piece": "delete from large_piece where seq = 4",
  "is gone": "delete from large_piece",
};

test.each(Object.entries(DAMAGE))("a value that %s is not read", async (_, sql) => {
  const store = new SqlStore(client, OPTIONS);
  const lease = await store.claim(0);
  await store.stage(lease, value);
  await store.commit(lease, [put("a", value), put("b", value, "other")]);
  await store.flush(lease);
  await store.commit(lease, [put("c", new Uint8Array(3), "sound")]);
  await client.batch("write", [{ sql, args: [] }]);
  await expect(store.load(lease, [whole])).rejects.toBeInstanceOf(Unreadable);
  const sound = await store.load(lease, [{ table: "state", group: "sound" }]);
  expect(sound[0]?.rows).toHaveLength(1);
});

test.each(Object.entries(DAMAGE))("a log whose value %s is refused by a claim", async (_, sql) => {
  const store = new SqlStore(client, OPTIONS);
  const lease = await store.claim(0);
  await store.stage(lease, value);
  await store.commit(lease, [put("before", new Uint8Array(3))]);
  await store.commit(lease, [put("a", value)]);
  await client.batch("write", [{ sql, args: [] }]);
  const next = new SqlStore(client, OPTIONS);
  await expect(next.claim(0)).rejects.toMatchObject({
    code: "RT0028",
    message: expect.stringMatching(/row 2 of the log of partition 0: .*large value 0\/1\/1/),
  });
  const losses: unknown[] = [];
  const accepting = new SqlStore(client, { ...OPTIONS, acceptLoss: (loss) => losses.push(loss) });
  const loaded = await accepting.load(await accepting.claim(0), [whole]);
  expect(loaded[0]?.rows).toEqual([put("before", new Uint8Array(3)).row]);
  expect(losses).toMatchObject([{ rows: 1, keys: ["state o"] }]);
  expect(await pieces()).toEqual([]);
});

test("a read that began before the last reference went still finds the value", async () => {
  const held: { readonly what: "piece" | "write"; readonly goOn: () => void }[] = [];
  let holds = false;
  const slow: SqlClient = {
    batch: async (mode, statements) => {
      const isPiece = statements.some(({ sql }) => /select seq, bytes/.test(sql));
      const what = mode === "write" ? "write" : isPiece ? "piece" : undefined;
      if (holds && what) await new Promise<void>((goOn) => held.push({ what, goOn }));
      return await client.batch(mode, statements);
    },
    isRefused: (cause) => client.isRefused(cause),
    close: () => client.close(),
  };
  const store = new SqlStore(slow, OPTIONS);
  const lease = await store.claim(0);
  const release = await store.stage(lease, value);
  await store.commit(lease, [put("a", value)]);
  release();
  await fold(store, lease);
  await store.commit(lease, [drop("a")]);
  holds = true;
  const flushed = store.flush(lease);
  const loaded = store.load(lease, [whole]);
  await vi.waitFor(() => expect(held.map(({ what }) => what)).toEqual(["write", "piece"]));
  holds = false;
  held[0]?.goOn();
  await flushed;
  const next = fold(store, lease);
  held[1]?.goOn();
  expect((await loaded)[0]?.rows).toEqual([]);
  await next;
  expect(await pieces()).toEqual([]);
});
