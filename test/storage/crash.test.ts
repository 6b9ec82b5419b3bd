import fc from "fast-check";
import { expect, test } from "vitest";
import type { Write } from "../../src/model/rows.ts";
import { Fenced, type SqlClient, type Store } from "../../src/ports.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { expectSame, own, type Owned } from "./_contract.ts";
import { memoryDatabase, TINY } from "./_database.ts";
import { changes, wantsOf, writesOf } from "./_rows.ts";

/** `lost`: never arrives. `pending`: is applied, and its response is lost. */
type Fault = "none" | "lost" | "late";

const everyByte = Uint8Array.from({ length: 256 }, (_, i) => i);
const timer: Write = {
  table: "timer",
  drop: false,
  row: { id: "a", due: 1, kind: "sleep", index: 1 },
};

class Lost extends Error {
  override name = "Lost";
}

/** Meets one fault for each write batch, and none once they are used up. */
function faulty(faults: Fault[]): (client: SqlClient) => SqlClient {
  return (client) => ({
    async batch(mode, statements) {
      const fault = mode === "write" ? faults.shift() ?? "none" : "none";
      if (fault === "lost") throw new Lost("the batch was lost");
      const rows = await client.batch(mode, statements);
      if (fault === "late") throw new Lost("the answer was lost");
      return rows;
    },
    isRefused: (cause) => client.isRefused(cause),
    close: () => client.close(),
  });
}

const fault = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Fault>("none") },
  { weight: 1, arbitrary: fc.constant<Fault>("lost") },
  { weight: 1, arbitrary: fc.constant<Fault>("late") },
);
const turn = fc.array(changes, { minLength: 1, maxLength: 3 });
const history = fc.record({
  turns: fc.array(turn, { minLength: 1, maxLength: 12 }),
  faults: fc.array(fault, { minLength: 30, maxLength: 120 }),
  isSameStore: fc.boolean(),
});

/** What storage should hold, one state for each way that the crash may have gone. */
interface Expected {
  readonly writes: readonly Write[];
  readonly lengths: Map<string, number>;
}

test(
  "a crash at any batch loses no acknowledged commit and keeps no part of another",
  () =>
    fc.assert(
      fc.asyncProperty(history, async ({ turns, faults, isSameStore }) => {
        const database = await memoryDatabase(TINY, faulty(faults));
        try {
          let stores: Store[] = [await database.open()];
          let owned: Owned = await ownAgain(stores[0] as Store);
          let state: Expected = { writes: [], lengths: new Map() };
          for (const commits of turns) {
            const { acknowledged, possible } = await handOver(owned.store, owned, {
              commits,
              state,
            });
            if (acknowledged === commits.length) {
              state = possible[acknowledged] as Expected;
              continue;
            }
            await expect(owned.store.commit(owned.lease, [])).rejects.toBeInstanceOf(Lost);
            await expect(owned.store.load(owned.lease, [])).rejects.toBeInstanceOf(Lost);
            if (!isSameStore) stores = [...stores, await database.open()];
            owned = await ownAgain(stores.at(-1) as Store);
            state = await whichOf(owned, possible.slice(acknowledged, acknowledged + 2));
          }
          faults.length = 0;
          await whichOf(await ownAgain(stores.at(-1) as Store), [state]);
          await whichOf(await own(database), [state]);
        } finally {
          await database.close();
        }
      }),
      { numRuns: 150 },
    ),
  120_000,
);

/** Hands commits over at once. `possible[n]`: the state when the first n of them were applied. */
async function handOver(
  store: Store,
  { lease }: Owned,
  { commits, state }: {
    readonly commits: readonly Parameters<typeof writesOf>[0][];
    readonly state: Expected;
  },
): Promise<{ acknowledged: number; possible: Expected[] }> {
  const possible = [state];
  const results: Promise<boolean>[] = [];
  for (const changes of commits) {
    const before = possible.at(-1) as Expected;
    const lengths = new Map(before.lengths);
    const writes = writesOf(changes, lengths);
    possible.push({ writes: [...before.writes, ...writes], lengths });
    results.push(
      store.commit(lease, writes).then(() => true, (cause) => {
        expect(cause).toBeInstanceOf(Lost);
        return false;
      }),
    );
  }
  const outcomes = await Promise.all(results);
  const acknowledged = outcomes.filter(Boolean).length;
  expect(outcomes, "once one is rejected, so are all later ones")
    .toEqual(outcomes.map((_, i) => i < acknowledged));
  return { acknowledged, possible };
}

/** The one state that storage is in. */
async function whichOf(owned: Owned, states: readonly Expected[]): Promise<Expected> {
  let failure: unknown;
  for (const state of states) {
    const store = new MemoryStore();
    const lease = await store.claim(3);
    await store.commit(lease, state.writes);
    try {
      await expectSame(owned, { store, lease }, wantsOf(state.writes));
      return state;
    } catch (cause) {
      if (cause instanceof Lost || cause instanceof Fenced) throw cause;
      failure ??= cause;
    }
  }
  throw failure;
}

/** Claims until it works, as a partition does. */
async function ownAgain(store: Store): Promise<Owned> {
  while (true) {
    try {
      return { store, lease: await store.claim(3) };
    } catch (cause) {
      expect(cause).toBeInstanceOf(Lost);
    }
  }
}

test("an interrupted fold is repeated, even when segments are cut differently", async () => {
  let isBroken = false;
  const database = await memoryDatabase({}, (client) => ({
    batch: (mode, statements) =>
      isBroken && statements.some(({ sql }) => sql.startsWith("delete from log"))
        ? Promise.reject(new Lost("the disk is gone"))
        : client.batch(mode, statements),
    isRefused: (cause) => client.isRefused(cause),
    close: () => client.close(),
  }));
  const limited = (rowBytesMax: number) =>
    database.open({ sliceRowsMax: 1, rowBytesMax }).then(ownAgain);
  const entries = (from: number, to: number): Write[] =>
    Array.from({ length: to - from }, (_, i) => ({
      table: "journal",
      drop: false,
      row: {
        id: "a",
        index: from + i,
        at: 1,
        entry: { kind: "command", type: 9, bytes: everyByte },
      },
    }));
  const first = await limited(1000);
  await first.store.commit(first.lease, entries(0, 2));
  await database.flush?.(first.store, first.lease);
  await first.store.commit(first.lease, [...entries(2, 10), timer]);
  isBroken = true;
  const flushed = database.flush?.(first.store, first.lease);
  await first.store.commit(first.lease, entries(10, 12));
  await expect(flushed).rejects.toBeInstanceOf(Lost);
  isBroken = false;
  const second = await limited(100_000);
  const model = new MemoryStore();
  const lease = await model.claim(3);
  await model.commit(lease, [...entries(0, 12), timer]);
  await expectSame(second, { store: model, lease }, wantsOf(entries(0, 12)));
  await database.close();
});
