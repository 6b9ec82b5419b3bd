import { expect, test } from "vitest";
import type { Write } from "../../src/model/rows.ts";
import type { SqlClient } from "../../src/ports.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { own } from "./_contract.ts";
import { memoryDatabase } from "./_database.ts";

const put = (name: string, byte: number): Write<"state"> => ({
  table: "state",
  row: { object: "o", name, value: new Uint8Array([byte]) },
  drop: false,
});
const tick = () => new Promise((resolve) => setImmediate(resolve));

/** Counts reads, and holds them up while there is a gate. */
function gated(): { wrap: (client: SqlClient) => SqlClient; reads: number; gate?: Promise<void> } {
  const self: ReturnType<typeof gated> = {
    reads: 0,
    wrap: (client) => ({
      async batch(mode, statements) {
        if (mode === "read") {
          self.reads++;
          await self.gate;
        }
        return await client.batch(mode, statements);
      },
      isRefused: (cause) => client.isRefused(cause),
      close: () => client.close(),
    }),
  };
  return self;
}

test("a fold does not move rows under a read that began before them", async () => {
  const reads = gated();
  const database = await memoryDatabase({}, reads.wrap);
  const { store, lease } = await own(database);
  await store.commit(lease, [put("a", 1)]);
  await database.flush?.(store, lease);
  let open = () => {};
  reads.gate = new Promise((resolve) => open = resolve);
  const loaded = store.load(lease, [{ table: "state", group: "o" }]);
  await store.commit(lease, [put("a", 2), put("b", 2)]);
  const flushed = database.flush?.(store, lease);
  for (let i = 0; i < 20; i++) await tick();
  open();
  expect((await loaded)[0]?.rows).toEqual([put("a", 1).row]);
  await flushed;
  expect((await store.load(lease, [{ table: "state", group: "o" }]))[0]?.rows)
    .toEqual([put("a", 2).row, put("b", 2).row]);
  await database.close();
});

test("rows of the overlay are read without SQL, the rest in one batch", async () => {
  const reads = gated();
  const database = await memoryDatabase({}, reads.wrap);
  const { store, lease } = await own(database);
  const before = reads.reads;
  const durable = store.commit(lease, [put("a", 1), { ...put("b", 1), drop: true }]);
  const known = ["a", "b"].map((item) => ({ table: "state", group: "o", item }) as const);
  expect((await store.load(lease, known)).map(({ rows }) => rows.length)).toEqual([1, 0]);
  expect(reads.reads).toBe(before);
  await store.load(lease, [
    ...known,
    { table: "state", group: "o" },
    { table: "journal", group: "x" },
    { table: "invocation", group: "x" },
    { table: "invocation", group: "y" },
  ]);
  expect(reads.reads).toBe(before + 1);
  await durable;
  await database.close();
});

test("rows are folded after a second without a commit", async () => {
  const database = await memoryDatabase();
  let now = 0;
  let alarm: { due: number; call: () => void } | undefined;
  const clock = {
    now: () => now,
    at: (due: number, call: () => void) => {
      alarm = { due, call };
      return () => alarm = undefined;
    },
    soon: (call: () => void) => void setImmediate(call),
  };
  const store = await database.open({ clock });
  const lease = await store.claim(3);
  await store.commit(lease, [put("a", 1)]);
  now = 500;
  await store.commit(lease, [put("a", 2)]);
  for (const due of [1000, 1500]) {
    expect(alarm?.due).toBe(due);
    now = due;
    alarm?.call();
  }
  const deadline = Date.now() + 5000;
  const folded = () => store instanceof SqlStore && store.pending(lease) === 0;
  while (!folded() && Date.now() < deadline) await tick();
  expect(folded()).toBe(true);
  await store.close();
  await expect(store.commit(lease, [])).rejects.toMatchObject({ status: 503 });
  await database.close();
});

test("the newest version wins: of the active layer, the frozen layer and the tables", async () => {
  const gate: { hold?: Promise<void> } = {};
  const database = await memoryDatabase({ sliceRowsMax: 1 }, (client) => ({
    async batch(mode, statements) {
      if (mode === "write") await gate.hold;
      return await client.batch(mode, statements);
    },
    isRefused: (cause) => client.isRefused(cause),
    close: () => client.close(),
  }));
  const { store, lease } = await own(database);
  await store.commit(lease, [put("a", 1), put("b", 1), put("c", 1)]);
  await database.flush?.(store, lease);
  await store.commit(lease, [put("a", 2), put("b", 2)]);
  let release = () => {};
  gate.hold = new Promise((resolve) => release = resolve);
  const flushed = database.flush?.(store, lease);
  const durable = store.commit(lease, [put("a", 3)]);
  expect((await store.load(lease, [{ table: "state", group: "o" }]))[0]?.rows)
    .toEqual([put("a", 3).row, put("b", 2).row, put("c", 1).row]);
  release();
  await Promise.all([flushed, durable]);
  await database.close();
});
