import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { Awaiting, InvocationRow } from "../../src/model/invocation.ts";
import {
  groupOf,
  itemOf,
  type Rows,
  type Table,
  timerItem,
  type Want,
  type Write,
} from "../../src/model/rows.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { compareItems } from "../../src/storage/codec/order.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { invocationRow } from "../support/rows.ts";
import { built } from "./_built.ts";
import { type Database, own, type Owned } from "./_contract.ts";
import { sqlDatabase } from "./_database.ts";

/** Sizes of issue 3 that storage must take in its stride: each test has a few seconds. */
const MANY = 10_000;
const MIB = 1024 * 1024;
const TREE_DEPTH_MAX = 1000;
const TEST_MS = 10_000;

let worker: URL;
let folder: string;
let files = 0;

beforeAll(async () => {
  worker = built("adapters/libsql/file/worker.ts");
  folder = await mkdtemp(join(tmpdir(), "big-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await rm(fileURLToPath(worker));
});

function memory(): Promise<Database> {
  const store = new MemoryStore();
  return Promise.resolve({ open: () => Promise.resolve(store), close: () => store.close() });
}

async function file(): Promise<Database> {
  const url = pathToFileURL(join(folder, `${++files}.db`)).href;
  const client = await openLibsql({ url, worker, synchronous: "NORMAL" });
  await migrate(client);
  return sqlDatabase(client, {});
}

describe.each([["memory", memory], ["a file", file]])("in %s", (_, make) => {
  test("a state of 10,000 keys is written, read, read in part and cleared", async () => {
    const puts = numbers(MANY).map((i) => state(`key ${i}`, Uint8Array.of(i, i >> 8)));
    const some = numbers(100).map((i) => stateOf(`key ${i * 100}`));
    await everywhere(make, puts, async (owned) => {
      expect((await rowsOf(owned, stateOf()))?.length).toBe(MANY);
      const found = await owned.store.load(owned.lease, some);
      expect(found.map(({ rows }) => rows)).toEqual(some.map((_, i) => [puts[i * 100]?.row]));
    }, puts.map((put) => ({ ...put, drop: true })));
  }, TEST_MS);

  test("a journal of 10,000 entries is written, read, read in part and dropped", async () => {
    const puts = numbers(MANY).map((i) => command(i, new Uint8Array(100).fill(i)));
    const want: Want = { table: "journal", group: "inv" };
    await everywhere(make, puts, async (owned) => {
      const rows = await rowsOf(owned, want);
      expect(rows?.length).toBe(MANY);
      expect(rows?.[7777]).toEqual(puts[7777]?.row);
      expect(await rowsOf(owned, { ...want, item: MANY - 1 })).toEqual([puts[MANY - 1]?.row]);
    }, puts.map((put) => ({ ...put, drop: true })));
  }, TEST_MS);

  test("a value of 32 MiB is written, read and dropped", async () => {
    const put = state("large", filled(32 * MIB));
    await everywhere(make, [put], async (owned) => {
      const [row] = await rowsOf(owned, stateOf("large")) ?? [];
      expectBytes((row as Rows["state"]).value, filled(32 * MIB));
    }, [{ ...put, drop: true }]);
  }, TEST_MS);

  test("large entries, results and outputs stand beside small ones", async () => {
    const value = filled(3 * MIB);
    const row: InvocationRow = { ...suspended({}), status: { kind: "completed" }, output: value };
    const promise: Rows["promise"] = {
      object: "o",
      name: "p",
      result: { kind: "value", value },
      listeners: [],
    };
    const entries = [new Uint8Array(1), value, new Uint8Array(2), value].map((bytes, i) =>
      command(i, bytes)
    );
    const others = [invocation(row), put("promise", promise)];
    await everywhere(make, [...entries, ...others], async (owned) => {
      const journal = await rowsOf(owned, { table: "journal", group: "inv" });
      expect(journal?.length).toBe(4);
      expectBytes(bytesOf(journal?.[3]), value);
      expect((await rowsOf(owned, { table: "invocation", group: "inv" }))?.length).toBe(1);
      const [found] = await rowsOf(owned, { table: "promise", group: "o", item: "p" }) ?? [];
      expectBytes(bytesOf(found), value);
    }, [...entries, ...others].map((write) => ({ ...write, drop: true })));
  }, TEST_MS);

  test("10,000 timers of one invocation are asked for one by one", async () => {
    const timers = numbers(MANY).map((i) =>
      ({ id: "inv", due: i % 7, kind: "sleep", index: i }) as const
    );
    const puts = timers.map((row) => put("timer", row));
    const wants = timers.map((row): Want => ({
      table: "timer",
      group: "inv",
      item: timerItem(row),
    }));
    await everywhere(make, puts, async (owned) => {
      const loaded = await owned.store.load(owned.lease, wants);
      expect(loaded.map(({ rows }) => rows)).toEqual(timers.map((timer) => [timer]));
    }, puts.map((put) => ({ ...put, drop: true })));
  }, TEST_MS);

  test("10,000 timers that are due at once are paged through", async () => {
    const timers = numbers(MANY).map((i) =>
      ({ id: `inv ${i % 2500}`, due: 5, kind: "sleep", index: i }) as const
    );
    const puts = timers.map((row) => put("timer", row));
    await everywhere(make, puts, async ({ store, lease }) => {
      const limit = 500;
      let seen = 0;
      for (let page = await store.scan(lease, { kind: "timers", limit }); page.length > 0;) {
        seen += page.length;
        const after = page.at(-1);
        page = after ? await store.scan(lease, { kind: "timers", limit, after }) : [];
      }
      expect(seen).toBe(MANY);
    }, puts.map((put) => ({ ...put, drop: true })));
  }, TEST_MS);

  test("a suspended invocation waits for a tree as deep and as broad as any", async () => {
    const row = suspended({
      nested: [deep(TREE_DEPTH_MAX), { ...leaves, completions: numbers(MANY) }],
    });
    await everywhere(make, [invocation(row)], async (owned) => {
      const [found] = await rowsOf(owned, { table: "invocation", group: "inv" }) ?? [];
      expect(JSON.stringify((found as InvocationRow).status)).toBe(JSON.stringify(row.status));
    }, [{ ...invocation(row), drop: true }]);
  }, TEST_MS);
});

test("a full log is read in pages", async () => {
  let read = 0;
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  const database = sqlDatabase(client, { foldBytesMax: Infinity }, (client) => ({
    async batch(mode, statements) {
      const results = await client.batch(mode, statements);
      const bytes = results.flat().map((row) => (row["bytes"] as Uint8Array | null)?.length ?? 0);
      read = Math.max(read, bytes.reduce((sum, size) => sum + size, 0));
      return results;
    },
    isRefused: (cause) => client.isRefused(cause),
    close: () => client.close(),
  }));
  const { store, lease } = await own(database);
  for (const i of numbers(7)) await store.commit(lease, [state(`${i}`, filled(3 * MIB))]);
  const next = await own(database);
  expect(read).toBe(15 * MIB);
  expect((await rowsOf(next, stateOf()))?.length).toBe(7);
  await database.close();
});

/**
 * Writes rows and checks them where they may be: in memory, in the tables, and in the tables
 * again after an owner was found dead with a full log. Then drops them.
 */
async function everywhere(
  make: () => Promise<Database>,
  puts: readonly Write[],
  check: (owned: Owned) => Promise<void>,
  drops: readonly Write[],
): Promise<void> {
  const database = await make();
  try {
    const owned = await own(database);
    await owned.store.commit(owned.lease, puts);
    await check(owned);
    await database.flush?.(owned.store, owned.lease);
    await check(owned);
    await owned.store.commit(owned.lease, puts);
    const next = await own(database);
    await check(next);
    await next.store.commit(next.lease, drops);
    await database.flush?.(next.store, next.lease);
    for (const { table, row } of puts.slice(0, 3)) {
      const group = groupOf(table, row);
      expect(await rowsOf(next, { table, group })).toEqual([]);
    }
  } finally {
    await database.close();
  }
}

async function rowsOf({ store, lease }: Owned, want: Want) {
  const [found] = await store.load(lease, [want]);
  if (!found?.pages) return found?.rows;
  const rows = [...found.pages].flat();
  return rows.sort((a, b) => compareItems(itemOf(want.table, a), itemOf(want.table, b)));
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

function state(name: string, value: Uint8Array): Write {
  return put("state", { object: "o", name, value });
}

function stateOf(item?: string): Want {
  return { table: "state", group: "o", ...(item === undefined ? {} : { item }) };
}

function command(index: number, bytes: Uint8Array): Write {
  const entry = { kind: "command", type: 9, bytes } as const;
  return put("journal", { id: "inv", index, at: 1, entry });
}

function put<T extends Table>(table: T, row: Rows[T]): Write {
  return { table, row, drop: false };
}

function filled(size: number): Uint8Array {
  const bytes = new Uint8Array(size).fill(65);
  bytes[size - 1] = 66;
  return bytes;
}

/** The bytes of a row of any table. */
function bytesOf(row: Rows[Table] | undefined): Uint8Array | undefined {
  const { entry, result } = row as Partial<Rows["journal"] & Rows["promise"]>;
  if (entry?.kind === "command") return entry.bytes;
  return result?.kind === "value" ? result.value : undefined;
}

/** As `toEqual`, which takes seconds for millions of bytes. */
function expectBytes(found: Uint8Array | undefined, expected: Uint8Array): void {
  expect(found && Buffer.compare(found, expected)).toBe(0);
}

function invocation(row: InvocationRow): Write {
  return put("invocation", row);
}

const leaves: Awaiting = { kind: "all", completions: [1], signals: [], names: [] };

function deep(levels: number): Awaiting {
  return levels === 0 ? leaves : { ...leaves, nested: [deep(levels - 1)] };
}

function suspended(tree: Partial<Awaiting>): InvocationRow {
  const status = { kind: "suspended", awaiting: { ...leaves, ...tree } } as const;
  return invocationRow({ id: "inv", status });
}
