import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { Write } from "../../src/model/rows.ts";
import { Unreadable } from "../../src/model/unreadable.ts";
import type { Lease, SqlClient, SqlRow } from "../../src/ports.ts";
import { SqlStore, type SqlStoreOptions } from "../../src/storage/sql_store.ts";
import { BYTE_COLUMNS } from "../../src/storage/schema/large_tables.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { TINY } from "./_database.ts";
import { changes, wantsOf, writesOf } from "./_rows.ts";
import { expectSame } from "./_contract.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { invocationRow } from "../support/rows.ts";

const HEAD_BYTES = 5;
const OPTIONS: SqlStoreOptions = { valueBytesMin: 1000, pieceBytes: 2000 };

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

const filled = (size: number, seed = 0) =>
  Uint8Array.from({ length: size }, (_, i) => (i * 7 + seed) % 256);

function put(name: string, value: Uint8Array, object = "o"): Write<"state"> {
  return { table: "state", row: { object, name, value }, drop: false };
}

const drop = (name: string): Write<"state"> => ({ ...put(name, new Uint8Array()), drop: true });

/** A fold of all that was committed, and one more, which deletes what the first one left over. */
async function folds(store: SqlStore, lease: Lease): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await store.commit(lease, [put("other", new Uint8Array([i]), "p")]);
    await store.flush(lease);
  }
}

/** Ids of the values that are stored, and of those to which rows of the tables refer. */
async function ids(): Promise<{ stored: unknown[]; referred: unknown[] }> {
  const referred = BYTE_COLUMNS.map(([table]) =>
    `select large ->> 0 as id from ${table} where large is not null`
  ).join(" union ");
  const [stored, known] = await Promise.all([
    ask("select distinct id from large_piece order by id"),
    ask(`select id from (${referred}) order by id`),
  ]);
  return { stored: stored.map(({ id }) => id), referred: known.map(({ id }) => id) };
}

/** An output, and a value of state, of the command that they are parts of. */
function ended(id: string, size: number): Write[] {
  const bytes = filled(HEAD_BYTES + size);
  const output = bytes.subarray(HEAD_BYTES);
  const entry = { kind: "command", type: 1, bytes } as const;
  return [
    { table: "invocation", row: { ...invocationRow({ id }), output }, drop: false },
    put(id, output),
    { table: "journal", row: { id, index: 0, at: 1, entry }, drop: false },
  ];
}

test("bytes that several rows share are written once, by their commit, and never again", async () => {
  const written = { pieces: 0, others: 0 };
  const watched: SqlClient = {
    batch: (mode, statements) => {
      for (const { sql, args } of mode === "write" ? statements : []) {
        const kind = sql.includes("into large_piece") ? "pieces" : "others";
        for (const arg of args) if (arg instanceof Uint8Array) written[kind] += arg.length;
      }
      return client.batch(mode, statements);
    },
    isRefused: (cause) => client.isRefused(cause),
    close: () => client.close(),
  };
  const store = new SqlStore(watched, OPTIONS);
  const lease = await store.claim(0);
  const writes = [...ended("a", 4000), ...ended("b", 1500), put("small", filled(999))];
  await store.commit(lease, writes);
  await store.flush(lease);
  expect(written.pieces).toBe(2 * HEAD_BYTES + 4000 + 1500);
  // The small one goes to the log and to its table, and so do the texts of all rows.
  expect(written.others).toBeLessThan(2 * 999 + 2500);
  const again = new SqlStore(client, OPTIONS);
  const claimed = await again.claim(0);
  const model = new MemoryStore();
  const modelled = { store: model, lease: await model.claim(0) };
  await model.commit(modelled.lease, writes);
  await expectSame({ store: again, lease: claimed }, modelled, wantsOf(writes));
});

test("one fold may replace and drop all rows that refer to a value", async () => {
  const store = new SqlStore(client, OPTIONS);
  const lease = await store.claim(0);
  await store.commit(lease, ended("a", 1500));
  await store.flush(lease);
  const [invocation, state, journal] = ended("a", 1500);
  await store.commit(lease, [
    { ...invocation, row: { ...invocation!.row, output: filled(1500, 1) } } as Write,
    { ...state, row: { ...state!.row, value: filled(1500, 2) } } as Write,
    { ...journal, drop: true } as Write,
  ]);
  await store.flush(lease);
  await folds(store, lease);
  const { stored, referred } = await ids();
  expect(stored).toHaveLength(2);
  expect(stored).toEqual(referred);
});

test("a value goes when no row refers to it any more, also one that was never folded", async () => {
  const store = new SqlStore(client, OPTIONS);
  const lease = await store.claim(0);
  // Twice written and once dropped before a fold, dropped after one, and kept.
  for (const seed of [1, 2]) await store.commit(lease, [put("twice", filled(1500, seed))]);
  await store.commit(lease, [put("soon", filled(1500, 3)), put("later", filled(1500, 4))]);
  await store.commit(lease, [drop("soon"), put("kept", filled(1500, 5))]);
  await folds(store, lease);
  expect((await ids()).stored).toHaveLength(3);
  await store.commit(lease, [drop("later")]);
  await folds(store, lease);
  const { stored, referred } = await ids();
  expect(stored).toHaveLength(2);
  expect(stored).toEqual(referred);
  expect(await ask("select * from large_unused")).toEqual([]);
});

test("a mass of values that are dropped together is deleted bit by bit", async () => {
  const store = new SqlStore(client, { ...OPTIONS, sliceRowsMax: 10 });
  const lease = await store.claim(0);
  const names = Array.from({ length: 45 }, (_, i) => `n${i}`);
  await store.commit(lease, names.map((name, i) => put(name, filled(1000, i))));
  await folds(store, lease);
  await store.commit(lease, names.map(drop));
  await store.flush(lease);
  const left: number[] = [];
  for (let i = 0; i < 6; i++) {
    left.push((await ids()).stored.length);
    await store.commit(lease, [put("other", new Uint8Array([i]), "p")]);
    await store.flush(lease);
  }
  expect(left).toEqual([45, 35, 25, 15, 5, 0]);
});

test("many values are read in a few batches", async () => {
  const store = new SqlStore(client, OPTIONS);
  const lease = await store.claim(0);
  const writes = Array.from({ length: 150 }, (_, i) => put(`n${i}`, filled(1000 + i, i)));
  const long = put("long", filled(5000));
  await store.commit(lease, [...writes, long]);
  let reads = 0;
  const watched: SqlClient = {
    batch: (mode, statements) => {
      if (mode === "read") reads++;
      return client.batch(mode, statements);
    },
    isRefused: (cause) => client.isRefused(cause),
    close: () => client.close(),
  };
  const next = new SqlStore(watched, OPTIONS);
  const claimed = await next.claim(0);
  reads = 0;
  const [{ rows } = { rows: [] }] = await next.load(claimed, [{ table: "state", group: "o" }]);
  // Quicker than to compare them one byte at a time.
  const shown = (all: readonly unknown[]) =>
    (all as Write<"state">["row"][]).map(({ name, value }) =>
      `${name} ${Buffer.from(value).toString("base64")}`
    ).toSorted();
  expect(shown(rows)).toEqual(shown([...writes, long].map(({ row }) => row)));
  // The rows, two groups of values, and the one of several pieces.
  expect(reads).toBe(4);
});

test.each([
  ["other bytes", "update large_piece set bytes = zeroblob(1500)"],
  ["no piece", "delete from large_piece"],
])("a value with %s is not read from the tables, nor its log by a claim", async (_, damage) => {
  const store = new SqlStore(client, OPTIONS);
  const lease = await store.claim(0);
  await store.commit(lease, [put("folded", filled(1500)), put("small", filled(9), "sound")]);
  await store.flush(lease);
  await store.commit(lease, [put("logged", filled(1500, 1), "p")]);
  await client.batch("write", [{ sql: damage, args: [] }]);
  await expect(store.load(lease, [{ table: "state", group: "o" }]))
    .rejects.toBeInstanceOf(Unreadable);
  const [sound] = await store.load(lease, [{ table: "state", group: "sound" }]);
  expect(sound?.rows).toHaveLength(1);
  await expect(new SqlStore(client, OPTIONS).claim(0)).rejects.toMatchObject({ code: "RT0028" });
});

class Killed extends Error {}

/** `kill(n)`: the write batch after the next n fails, before it is applied or after, and so do later ones. */
function killable(): SqlClient & { kill(number: number, isApplied: boolean): void } {
  let left = Infinity, appliesLast = false;
  return {
    kill: (number, isApplied) => void ([left, appliesLast] = [number, isApplied]),
    batch: async (mode, statements) => {
      if (mode === "read") return await client.batch(mode, statements);
      const isLast = left === 0;
      if (--left < 0 && !(isLast && appliesLast)) throw new Killed();
      const rows = await client.batch(mode, statements);
      if (isLast) throw new Killed();
      return rows;
    },
    isRefused: (cause) => client.isRefused(cause),
    close: () => Promise.resolve(),
  };
}

test.each([0, 1, 2, 3])(
  "a fold killed after %i batches keeps what its log refers to",
  async (n) => {
    const database = killable();
    const options = { ...OPTIONS, sliceRowsMax: 1 };
    const store = new SqlStore(database, options);
    const lease = await store.claim(0);
    for (const seed of [1, 2]) await store.commit(lease, [put("twice", filled(1500, seed))]);
    await store.commit(lease, [put("soon", filled(1500, 3)), put("kept", filled(1500, 4))]);
    await store.commit(lease, [drop("soon"), put("small", filled(9))]);
    database.kill(n, true);
    await expect(store.flush(lease)).rejects.toBeInstanceOf(Killed);
    const next = new SqlStore(client, options);
    const claimed = await next.claim(0);
    const [{ rows } = { rows: [] }] = await next.load(claimed, [{ table: "state", group: "o" }]);
    expect(rows).toEqual([
      put("kept", filled(1500, 4)).row,
      put("small", filled(9)).row,
      put("twice", filled(1500, 2)).row,
    ]);
    const { stored, referred } = await ids();
    expect(stored).toHaveLength(2);
    expect(stored).toEqual(referred);
  },
);

/** The commits of one life of a process, and when it is killed. */
interface Lifetime {
  readonly commits: readonly (readonly Write[])[];
  readonly batches: number;
  readonly isApplied: boolean;
}

async function live({ commits, batches, isApplied }: Lifetime): Promise<void> {
  const database = killable();
  const store = new SqlStore(database, { ...TINY, foldRowsMax: 6 });
  const lease = await store.claim(3);
  for (const writes of commits) await store.commit(lease, writes);
  database.kill(batches, isApplied);
  await store.flush(lease).catch((cause) => expect(cause).toBeInstanceOf(Killed));
  store.close().catch(() => {});
}

const life = fc.tuple(fc.array(changes, { maxLength: 5 }), fc.nat(12), fc.boolean());
const lives = fc.array(life, { minLength: 1, maxLength: 5 });

async function expectKept(some: typeof lives extends fc.Arbitrary<infer L> ? L : never) {
  const lengths = new Map<string, number>();
  const all: Write[] = [];
  for (const [changes, batches, isApplied] of some) {
    const commits = changes.map((one) => writesOf(one, lengths));
    all.push(...commits.flat());
    await live({ commits, batches, isApplied });
  }
  const store = new SqlStore(client, TINY);
  const lease = await store.claim(3);
  const model = new MemoryStore();
  const modelled = { store: model, lease: await model.claim(3) };
  await model.commit(modelled.lease, all);
  await expectSame({ store, lease }, modelled, wantsOf(all));
  await folds(store, lease);
  const { stored, referred } = await ids();
  expect(stored).toEqual(referred);
}

test(
  "whatever is written and wherever a process is killed, no value leaks and none is missing",
  () =>
    fc.assert(
      fc.asyncProperty(lives, async (some) => {
        await client.close();
        client = await openLibsql({ url: ":memory:" });
        await migrate(client);
        await expectKept(some);
      }),
      { numRuns: 60 },
    ),
  120_000,
);
