import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openRemote, type Post, type RemoteOptions } from "../../adapters/libsql/remote/open.ts";
import { RemoteError } from "../../adapters/libsql/remote/error.ts";
import { nodePost } from "../../adapters/libsql/remote/node_post.ts";
import { clock } from "../../adapters/platform/clock.ts";
import type { Write } from "../../src/model/rows.ts";
import { Fenced, type SqlClient, type SqlValue } from "../../src/ports.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { Distance } from "../support/distance.ts";
import { type Sqld, sqldProgram, startSqld } from "../support/sqld.ts";
import { storeContract } from "./_contract.ts";
import { sqlDatabase, TINY } from "./_database.ts";

const program = await sqldProgram();
const sql = (text: string, ...args: SqlValue[]) => ({ sql: text, args });
const transports: Readonly<Record<string, Post | undefined>> = { fetch: undefined, node: nodePost };

describe.skipIf(program === undefined)("a libSQL server", () => {
  let sqld: Sqld;
  const closes: (() => Promise<unknown>)[] = [];
  beforeAll(async () => void (sqld = await startSqld(program ?? "")), 30_000);
  afterAll(() => sqld.close());
  afterEach(async () => {
    for (const close of closes.splice(0).reverse()) await close();
  });

  async function open(options: Partial<RemoteOptions> = {}): Promise<SqlClient> {
    const client = await openRemote({ url: sqld.url, authToken: "", ...options });
    closes.push(() => client.close());
    return client;
  }

  /** A client of an empty database that is brought up to date. */
  async function empty(options: Partial<RemoteOptions> = {}): Promise<SqlClient> {
    const client = await open(options);
    await clear(client);
    await migrate(client);
    return client;
  }

  describe.each(Object.entries(transports))("asked by %s", (_, post) => {
    describe("is a store", () =>
      storeContract(async () => sqlDatabase(await empty(post && { post }), TINY), 8));

    test("takes and gives values exactly", async () => {
      const client = await open(post && { post });
      const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
      const values = ["ü\u{1f600}", "", 0, -1.5, 2 ** 53 - 1, null, bytes, new Uint8Array(0)];
      const columns = values.map((_, i) => `?${i + 1} as v${i}`).join(", ");
      const [rows] = await client.batch("read", [sql(`select ${columns}`, ...values)]);
      expect(Object.values(rows?.[0] ?? {})).toEqual(values);
    });
  });

  test("applies batches whole, several at a time, and says what SQLite said", async () => {
    const client = await empty();
    await client.batch("write", [sql("create table t (n integer primary key, c check (c = 1))")]);
    const insert = (n: number, c: number) => sql("insert into t values (?1, ?2)", n, c);
    await client.batch("write", [insert(1, 1)]);
    // More than are on their way at once: the others follow.
    const others = Array.from({ length: 20 }, (_, i) => client.batch("write", [insert(10 + i, 1)]));
    const results = await Promise.allSettled([
      client.batch("write", [insert(2, 1), insert(3, 0)]),
      client.batch("write", [insert(4, 1), insert(1, 1)]),
      client.batch("write", [insert(5, 0)]),
    ]);
    await Promise.all(others);
    const causes = results.map((one) => one.status === "rejected" && one.reason);
    expect(causes.map((cause) => client.isRefused(cause))).toEqual([true, false, true]);
    expect(causes.map((cause) => client.isLost?.(cause))).toEqual([false, false, false]);
    expect(causes[1].message)
      .toBe(`SQLite error: UNIQUE constraint failed: t.n (${sqld.url})`);
    const [rows = []] = await client.batch("read", [sql("select n from t order by n")]);
    expect(rows.map(({ n }) => n)).toEqual([1, ...others.map((_, i) => 10 + i)]);
  });

  test("is read in pages when an answer is larger than it gives", async () => {
    const client = await empty({ post: nodePost });
    const store = new SqlStore(client, { clock });
    const lease = await store.claim(0);
    const writes = Array.from({ length: 9 }, (_, i): Write => ({
      table: "state",
      drop: false,
      row: { object: "o", name: String(i), value: new Uint8Array(4 * 1024 * 1024).fill(i) },
    }));
    for (const write of writes) await store.commit(lease, [write]);
    // What was not folded is read back from the log, all of it.
    const next = new SqlStore(client, { clock });
    const found = await next.load(await next.claim(0), [
      { table: "lock", group: "o" },
      { table: "state", group: "o" },
    ]);
    expect(found.map(({ rows }) => rows.length)).toEqual([0, 9]);
    expect(found[1]?.rows.map((row) => "value" in row && row.value?.[7]))
      .toEqual(writes.map((_, i) => i));
  }, 60_000);

  test("lets the later claim win", async () => {
    const [one, two] = [new SqlStore(await empty()), new SqlStore(await open())];
    const first = await one.claim(0);
    const second = await two.claim(0);
    expect(second.epoch).toBe(first.epoch + 1);
    await expect(one.commit(first, [state(1)])).rejects.toBeInstanceOf(Fenced);
    await two.commit(second, [state(2)]);
  });

  test("is migrated once by two processes that start at the same time", async () => {
    await clear(await open());
    await Promise.all([migrate(await open()), migrate(await open())]);
  });

  test("may be killed, and be cut off, and commits happen once all the same", async () => {
    const distance = new Distance({ target: new URL(sqld.url), delayMs: 4 });
    closes.push(() => distance.close());
    await empty();
    const distant = await open({ url: await distance.listen(), post: nodePost, timeoutMs: 300 });
    const store = new SqlStore(distant, { clock, ...TINY });
    const lease = await store.claim(0);
    for (let turn = 1; turn <= 60; turn++) {
      const committed = Promise.all([store.commit(lease, [state(turn)]), store.commit(lease, [])]);
      if (turn % 7 === 0) setTimeout(() => distance.reset(), turn % 5);
      if (turn % 20 === 0) {
        await sqld.stop();
        await sqld.start();
      }
      if (turn === 30) {
        distance.isCut = true;
        setTimeout(() => distance.isCut = false, 500);
      }
      await committed;
    }
    const [found] = await store.load(lease, [{ table: "state", group: "o" }]);
    expect(found?.rows).toEqual([state(60).row]);
    await store.close();
    const next = new SqlStore(await open(), { clock });
    const [left] = await next.load(await next.claim(0), [{ table: "state", group: "o" }]);
    expect(left?.rows).toEqual([state(60).row]);
  }, 60_000);

  test("may stand still for longer than a request may take", async () => {
    await empty();
    const client = await open({ timeoutMs: 200, post: nodePost });
    const store = new SqlStore(client, { clock });
    const lease = await store.claim(0);
    sqld.signal("SIGSTOP");
    const commit = store.commit(lease, [state(1)]);
    setTimeout(() => sqld.signal("SIGCONT"), 700);
    await commit;
    await store.commit(lease, [state(2)]);
    await store.flush(lease);
    // Read by another client: a read is not retried once it has exceeded its timeout of 200 ms.
    const [log] = await (await open()).batch("read", [sql("select count(*) as n from log")]);
    expect(log).toEqual([{ n: 0 }]);
  }, 30_000);

  test("is not held up by reads while it writes, and answers them meanwhile", async () => {
    await empty();
    let [asking, most] = [0, 0];
    const post: Post = async (url, request) => {
      most = Math.max(most, ++asking);
      return await nodePost(url, request).finally(() => asking--);
    };
    const client = await open({ post });
    await client.batch("read", [sql("select 1")]);
    await Promise.all([
      client.batch("write", [sql("delete from deployment")]),
      ...Array.from({ length: 10 }, () => client.batch("read", [sql("select 1")])),
    ]);
    expect(most).toBe(11);
  });
});

test.each(Object.entries(transports))(
  "an unreachable server is a loss, asked by %s",
  async (_, post) => {
    const client = await openRemote({
      url: "http://127.0.0.1:9",
      authToken: "s3cret",
      ...(post && { post }),
    });
    const cause = await client.batch("read", [sql("select 1")]).catch((cause: unknown) => cause);
    expect(cause).toBeInstanceOf(RemoteError);
    expect([client.isLost?.(cause), client.isRefused(cause)]).toEqual([true, false]);
    expect(String(cause)).toContain("(http://127.0.0.1:9)");
    await client.close();
  },
);

describe.skipIf(program === undefined)("a libSQL server that wants a token", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = `${part({ alg: "EdDSA", typ: "JWT" })}.${part({ a: "rw" })}`;
  const token = `${claims}.${sign(null, Buffer.from(claims), privateKey).toString("base64url")}`;
  let folder: string, sqld: Sqld;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "sqld-key-"));
    const keyFile = path.join(folder, "key.pem");
    await writeFile(keyFile, publicKey.export({ type: "spki", format: "pem" }));
    sqld = await startSqld(program ?? "", { keyFile });
  }, 30_000);
  afterAll(async () => {
    await sqld.close();
    await rm(folder, { recursive: true });
  });

  test.each(Object.entries(transports))(
    "accepts the right one only, asked by %s",
    async (_, post) => {
      const ask = async (authToken: string) => {
        const client = await openRemote({ url: sqld.url, authToken, ...(post && { post }) });
        return await client.batch("write", [sql("create table if not exists a (b)")])
          .finally(() => client.close());
      };
      expect(await ask(token)).toEqual([[]]);
      for (const wrong of ["", `${token.slice(0, -8)}AAAAAAAA`]) {
        const cause = await ask(wrong).catch((cause: unknown) => cause);
        expect(cause).toMatchObject({ isForbidden: true, isLost: false });
        expect(String(cause)).toBe(
          `RemoteError: Server returned HTTP status 401 (${sqld.url})`,
        );
      }
    },
  );
});

function state(byte: number): Write {
  return {
    table: "state",
    drop: false,
    row: { object: "o", name: "n", value: Uint8Array.of(byte) },
  };
}

/** Drops every table and view. */
async function clear(client: SqlClient): Promise<void> {
  const [tables = []] = await client.batch("read", [
    sql(
      "select type, name from sqlite_master where type in ('table', 'view')" +
        " and name not like 'sqlite_%'" +
        " and name not like 'libsql_%' and name not like '\\_%' escape '\\'",
    ),
  ]);
  if (tables.length === 0) return;
  // A view names tables, so it goes first.
  const order = tables.sort((a, b) =>
    Number(a["type"] === "table") - Number(b["type"] === "table")
  );
  await client.batch("write", order.map(({ type, name }) => sql(`drop ${type} "${name}"`)));
}
