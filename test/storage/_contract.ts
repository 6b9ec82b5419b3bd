import fc from "fast-check";
import { expect, test } from "vitest";
import type { Rows, Want, Write } from "../../src/model/rows.ts";
import { Fenced, type Lease, type Store } from "../../src/ports.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import type { SqlStoreOptions } from "../../src/storage/sql_store.ts";
import { encode } from "../../src/storage/codec/row_codec.ts";
import { changes, wantsOf, writesOf } from "./_rows.ts";
import { scans } from "./_scans.ts";

/** A database, and ways to own it. */
export interface Database {
  /** A store over this database that knows nothing yet. `options`: instead of the usual ones. */
  open(options?: SqlStoreOptions): Promise<Store>;
  /** Brings everything into the tables, where the store has any. */
  flush?(store: Store, lease: Lease): Promise<void>;
  close(): Promise<void>;
}

export interface Owned {
  readonly store: Store;
  readonly lease: Lease;
}

const step = fc.record({
  changes,
  /** Whether bytes are staged before the commit that holds them, and for how many steps longer. */
  stages: fc.option(fc.nat(3), { nil: undefined }),
  /** What happens after it was handed over. */
  then: fc.constantFrom("go on", "go on", "wait", "wait", "flush", "reclaim", "restart"),
});

/** A store is correct when it behaves as the one in memory. */
export function storeContract(make: () => Promise<Database>, numRuns = 40): void {
  test("reads what any history leaves in memory, however it is interrupted", () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const database = await make();
        try {
          await compareHistory(database, steps);
        } finally {
          await database.close();
        }
      }),
      { numRuns },
    ), 120_000);

  test("refuses the old owner once a new one has claimed, and keeps nothing of its batch", () =>
    using(make, refusesOldOwner));
  test("refuses even an empty commit of an old owner", () => using(make, refusesEmptyCommit));
  test("refuses an old lease of the same store", () => using(make, refusesOldLease));
  test("keeps partitions apart", () => using(make, keepsPartitionsApart));
  test("answers a load with the commits handed over before it, and none after", () =>
    using(make, loadsWhatWasHandedOver));
  test("scans across what is in the tables and what is not yet, and skips neither", () =>
    using(make, scansBothSides));
  test("a timer that is dropped takes no other one of the same moment with it", () =>
    using(make, dropsOneTimer));
  test("keeps promises as they are: open, kept with nothing, broken; and forgets them", () =>
    using(make, keepsPromises));
}

async function refusesOldOwner(database: Database): Promise<void> {
  const old = await own(database);
  const young = await own(database);
  await expect(old.store.commit(old.lease, [state("a", 1)])).rejects.toBeInstanceOf(Fenced);
  await expect(old.store.commit(old.lease, [])).rejects.toBeInstanceOf(Fenced);
  await young.store.commit(young.lease, [state("b", 2)]);
  const [{ rows } = { rows: [] }] = await young.store.load(young.lease, [group("state", "o")]);
  expect(rows).toEqual([state("b", 2).row]);
}

async function refusesEmptyCommit(database: Database): Promise<void> {
  const old = await own(database);
  const young = await own(database);
  await expect(old.store.commit(old.lease, [])).rejects.toBeInstanceOf(Fenced);
  await young.store.commit(young.lease, []);
}

async function refusesOldLease(database: Database): Promise<void> {
  const { store, lease } = await own(database);
  await store.commit(lease, [state("a", 1)]);
  const next = await store.claim(lease.partition);
  expect(next.epoch).toBeGreaterThan(lease.epoch);
  await expect(store.commit(lease, [state("a", 2)])).rejects.toBeInstanceOf(Fenced);
  await expect(store.load(lease, [group("state", "o")])).rejects.toBeInstanceOf(Fenced);
  expect((await store.load(next, [group("state", "o")]))[0]?.rows).toEqual([state("a", 1).row]);
}

async function keepsPartitionsApart(database: Database): Promise<void> {
  const store = await database.open();
  const [zero, seven] = [await store.claim(0), await store.claim(7)];
  const timer = (id: string): Write => ({
    table: "timer",
    row: { id, due: 5, kind: "retry", index: 0 },
    drop: false,
  });
  await Promise.all([store.commit(zero, [timer("x")]), store.commit(seven, [timer("y")])]);
  for (let again = 0; again < 2; again++) {
    for (const [lease, id] of [[zero, "x"], [seven, "y"]] as const) {
      const found = await store.scan(lease, { kind: "timers", limit: 9 });
      expect(found.map((timer) => timer.id)).toEqual([id]);
      await database.flush?.(store, lease);
    }
  }
  await store.claim(7);
  await store.commit(zero, []);
}

async function loadsWhatWasHandedOver(database: Database): Promise<void> {
  const { store, lease } = await own(database);
  const commits = [store.commit(lease, [state("a", 1)])];
  const loaded = store.load(lease, [group("state", "o")]);
  commits.push(store.commit(lease, [state("a", 2), state("b", 2)]));
  expect((await loaded)[0]?.rows).toEqual([state("a", 1).row]);
  await Promise.all(commits);
}

/** Rows beyond the last one of a page of the tables must wait for the next page. */
async function scansBothSides(database: Database): Promise<void> {
  const { store, lease } = await own(database);
  const timer = (due: number, drop = false): Write => ({
    table: "timer",
    row: { id: "a", due, kind: "sleep", index: due },
    drop,
  });
  await store.commit(lease, [timer(1), timer(2), timer(3), timer(4)]);
  await database.flush?.(store, lease);
  await store.commit(lease, [timer(1, true), timer(9)]);
  const found = await store.scan(lease, { kind: "timers", limit: 2 });
  expect(found.map(({ due }) => due)).toEqual([2, 3]);
}

async function dropsOneTimer(database: Database): Promise<void> {
  const { store, lease } = await own(database);
  const timers = (["retry", "sleep"] as const).flatMap((kind) =>
    [1, 2].map((index) => ({ id: "a", due: 5, kind, index }))
  );
  const writes = timers.map((row): Write => ({ table: "timer", row, drop: false }));
  await store.commit(lease, writes);
  await database.flush?.(store, lease);
  await store.commit(lease, writes.slice(0, 1).map((write) => ({ ...write, drop: true })));
  await database.flush?.(store, lease);
  expect(await store.scan(lease, { kind: "timers", limit: 9 })).toEqual(timers.slice(1));
}

async function keepsPromises(database: Database): Promise<void> {
  const { store, lease } = await own(database);
  const caller = { id: "inv", completion: 2, type: 0x8009 };
  const failure = { code: 409, message: "no", metadata: [["a", "1"], ["a", "2"]] } as const;
  const rows: Rows["promise"][] = [
    { object: "o", name: "broken", result: { kind: "failure", failure }, listeners: [] },
    {
      object: "o",
      name: "empty",
      result: { kind: "value", value: new Uint8Array(0) },
      listeners: [],
    },
    { object: "o", name: "open", listeners: [caller, { ...caller, completion: 3 }] },
  ];
  const write = (drop: boolean) => rows.map((row): Write => ({ table: "promise", row, drop }));
  const wants = [
    group("promise", "o"),
    ...rows.map(({ name }) => ({ ...group("promise", "o"), item: name })),
  ];
  for (const drop of [false, true]) {
    await store.commit(lease, write(drop));
    for (let again = 0; again < 2; again++) {
      const found = (await store.load(lease, wants)).map(({ rows }) => rows);
      expect(found).toEqual(drop ? wants.map(() => []) : [rows, ...rows.map((row) => [row])]);
      await database.flush?.(store, lease);
    }
  }
}

interface Step {
  readonly changes: Parameters<typeof writesOf>[0];
  readonly stages: number | undefined;
  readonly then: string;
}

/** Stages what has bytes, in stores that can, as the partition does with the bytes of an event. */
async function stage({ store, lease }: Owned, writes: readonly Write[]): Promise<(() => void)[]> {
  const bytes = writes.map(({ table, row, drop }) =>
    drop ? undefined : encode(table, row as never).bytes
  );
  const releases: (() => void)[] = [];
  for (const one of bytes) if (one && store.stage) releases.push(await store.stage(lease, one));
  return releases;
}

async function compareHistory(
  database: Database,
  steps: readonly Step[],
): Promise<void> {
  const memory = new MemoryStore();
  let model: Owned = { store: memory, lease: await memory.claim(3) };
  let real = await own(database);
  const lengths = new Map<string, number>();
  const all: Write[] = [];
  const pending: Promise<void>[] = [];
  const releases: { readonly at: number; readonly staged: readonly (() => void)[] }[] = [];
  for (const [at, { changes, stages, then }] of steps.entries()) {
    const writes = writesOf(changes, lengths);
    all.push(...writes);
    if (stages !== undefined) {
      releases.push({ at: at + stages, staged: await stage(real, writes) });
    }
    pending.push(real.store.commit(real.lease, writes));
    await model.store.commit(model.lease, writes);
    for (const due of releases.filter((one) => one.at === at)) {
      for (const release of due.staged) release();
    }
    if (then === "wait") await Promise.all(pending.splice(0));
    if (then === "flush") await database.flush?.(real.store, real.lease);
    await expectSame(real, model, wantsOf(all));
    if (then === "reclaim" || then === "restart") await Promise.all(pending.splice(0));
    if (then === "reclaim") real = { ...real, lease: await real.store.claim(3) };
    if (then === "restart") real = await own(database);
    if (then === "reclaim" || then === "restart") {
      model = { ...model, lease: await memory.claim(3) };
      expect(real.lease.epoch).toBe(model.lease.epoch);
    }
  }
  await Promise.all(pending);
  await expectSame(real, model, wantsOf(all));
}

/** Whether two stores answer every question alike. */
export async function expectSame(real: Owned, model: Owned, wants: readonly Want[]): Promise<void> {
  const [loaded, told] = await Promise.all([
    real.store.load(real.lease, wants),
    model.store.load(model.lease, wants),
  ]);
  expect(loaded).toEqual(told);
  for (const limit of [1, 3, 100]) {
    expect(await scans(real, limit)).toEqual(await scans(model, limit));
  }
}

/** A store of its own that holds partition 3. */
export async function own(database: Database): Promise<Owned> {
  const store = await database.open();
  return { store, lease: await store.claim(3) };
}

async function using(
  make: () => Promise<Database>,
  use: (database: Database) => Promise<void>,
): Promise<void> {
  const database = await make();
  try {
    await use(database);
  } finally {
    await database.close();
  }
}

function group(table: Want["table"], name: string): Want {
  return { table, group: name };
}

function state(name: string, byte: number): Write {
  return { table: "state", row: { object: "o", name, value: new Uint8Array([byte]) }, drop: false };
}
