import fc from "fast-check";
import { expect, test } from "vitest";
import type { Write } from "../../src/model/rows.ts";
import { Fenced, type SqlClient, type Store } from "../../src/ports.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { expectSame, own, type Owned } from "./_contract.ts";
import { memoryDatabase, TINY } from "./_database.ts";
import { changes, wantsOf, writesOf } from "./_rows.ts";

/** `lost`: never arrives. `late`: is applied, and nobody hears of it. */
type Fault = "none" | "lost" | "late";

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
  "a crash at any batch loses nothing acknowledged and keeps no half of a commit",
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
