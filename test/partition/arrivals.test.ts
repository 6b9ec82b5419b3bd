import { expect, test, vi } from "vitest";
import { clock } from "../../adapters/platform/clock.ts";
import type { Effect } from "../../src/engine/effect.ts";
import type { Event } from "../../src/engine/event.ts";
import { ONLY_PARTITION } from "../../src/model/ring.ts";
import type { Rows, Want } from "../../src/model/rows.ts";
import { Unreadable } from "../../src/model/unreadable.ts";
import { Meter } from "../../src/observe/meter.ts";
import { Partition } from "../../src/partition/partition.ts";
import type { Lease, Loaded, Store } from "../../src/ports.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { inPages } from "../sim/pages.ts";
import { memoryDatabase } from "../storage/_database.ts";
import { invocationRow } from "../support/rows.ts";
import { schema, targetOf } from "../support/schema.ts";
import { invoked } from "./_invoked.ts";

const target = targetOf("greeter/hi");
const bytes = new Uint8Array(50);

/** An invocation with a long journal in the store, whose attempt runs. */
async function invocationWith(entries: number, store: Store, lease: Lease): Promise<string> {
  const { id } = invoked();
  const journal = Array.from({ length: entries }, (_, index): Rows["journal"] => ({
    id,
    index,
    at: 0,
    entry: index === 0
      ? { kind: "input", headers: [], value: new Uint8Array(0) }
      : { kind: "command", type: 0x0411, bytes },
  }));
  const retention = { resultMs: 1e6, journalMs: 1e6 };
  const row = invocationRow({ id, target, journal: entries, commands: entries, retention });
  await store.commit(lease, [
    { table: "invocation", row, drop: false },
    ...journal.map((row) => ({ table: "journal", row, drop: false }) as const),
  ]);
  return id;
}

/** A partition without resident rows, and the outcome of its events. */
function begin(store: Store, lease: Lease) {
  const released: Effect[] = [];
  const refused: [Event, Unreadable][] = [];
  const partition = new Partition({
    lease,
    range: ONLY_PARTITION,
    clock,
    store,
    schema: () => schema,
    onFailure: (cause) => expect.unreachable(String(cause)),
    onRefused: (...args) => void refused.push(args),
    release: (effects) => void released.push(...effects),
    turnEventsMax: 100,
    releaseEffectsMax: 32,
    residentBytesMax: 0,
    meter: new Meter(),
  });
  partition.open();
  const attemptOf = (id: string) =>
    released.find((effect) => effect.type === "attempt" && effect.invocation.id === id);
  return { partition, released, refused, attemptOf };
}

/** A store that loads groups of more than two rows in pages of two. */
class Paged extends MemoryStore {
  override async load(lease: Lease, wants: readonly Want[]): Promise<Loaded[]> {
    return inPages(await super.load(lease, wants), 2);
  }
}

test("other turns go on while a long journal is read from the database", async () => {
  const database = await memoryDatabase();
  const store = await database.open() as SqlStore;
  const lease = await store.claim(0);
  const id = await invocationWith(30_000, store, lease);
  await database.flush?.(store, lease);
  const { partition, attemptOf } = begin(store, lease);
  partition.send({ type: "slotFree", id, attempt: 1 });
  let others = 0;
  const sendOther = () =>
    partition.send(invoked(), () => {
      if (attemptOf(id)) return;
      others++;
      clock.soon(sendOther);
    });
  sendOther();
  const attempt = await vi.waitFor(() => {
    const effect = attemptOf(id);
    expect(effect).toBeDefined();
    return effect;
  }, 20_000);
  expect(attempt?.type === "attempt" && attempt.entries.length).toBe(30_000);
  expect(others).toBeGreaterThan(10);
  partition.stop();
  await database.close();
});

test("an event does not overtake one of the same invocation that waits for rows", async () => {
  const store = new Paged();
  const lease = await store.claim(0);
  const id = await invocationWith(20, store, lease);
  const { partition, released } = begin(store, lease);
  const failure = { code: "RT0007", status: 500, message: "x" } as const;
  const outcome = { kind: "failed", failure, reached: true } as const;
  const durable: string[] = [];
  partition.send({ type: "slotFree", id, attempt: 1 }, () => durable.push("slotFree"));
  // Needs no entry, so it could run at once.
  const ended = { type: "attemptEnded", id, attempt: 1, outcome, jitter: 0 } as const;
  const later = invoked();
  partition.send(later, () => {
    durable.push("other");
    partition.send(ended, () => durable.push("ended"));
  });
  await vi.waitFor(() => expect(durable).toEqual(["other", "slotFree", "ended"]));
  const types = released.flatMap((effect) =>
    effect.type === "attempt" && effect.invocation.id === id || effect.type === "armTimer"
      ? effect.type
      : []
  );
  expect(types).toEqual(["attempt", "armTimer"]);
  partition.stop();
});

test("an entry that is appended while the journal arrives is part of it", async () => {
  const store = new Paged();
  const lease = await store.claim(0);
  const id = await invocationWith(20, store, lease);
  const { partition, attemptOf } = begin(store, lease);
  partition.send({ type: "slotFree", id, attempt: 1 });
  partition.send(invoked(), () => {
    const signal = { target: id, id: { kind: "signal", index: 17 }, result: { kind: "void" } };
    partition.send({ type: "signaled", signal, reply: 1 } as Event & { type: "signaled" });
    partition.send({ type: "slotFree", id, attempt: 1 });
  });
  await vi.waitFor(() => expect(attemptOf(id)).toMatchObject({ entries: { length: 20 } }));
  partition.send({ type: "recovered", id });
  await vi.waitFor(async () => {
    const [row] = await store.load(lease, [{ table: "journal", group: id }]);
    expect([...row?.pages ?? []].flat().length).toBe(21);
  });
  partition.stop();
});

test("a page that cannot be decoded refuses the events that need it, and no others", async () => {
  class Damaged extends Paged {
    override async load(lease: Lease, wants: readonly Want[]): Promise<Loaded[]> {
      const loaded = await super.load(lease, wants);
      return loaded.map((one) => one.pages ? { ...one, pages: damaged(one) } : one);
    }
  }
  const damaged = function* ({ want, pages }: Loaded) {
    yield* pages ?? [];
    throw new Unreadable(want.table, want.group);
  };
  const store = new Damaged();
  const lease = await store.claim(0);
  const id = await invocationWith(20, store, lease);
  const { partition, refused } = begin(store, lease);
  const durable = vi.fn();
  partition.send({ type: "slotFree", id, attempt: 1 });
  partition.send(invoked(), durable);
  await vi.waitFor(() => expect(refused.length).toBe(1));
  expect(refused[0]?.[0]).toMatchObject({ type: "slotFree", id });
  expect(durable).toHaveBeenCalled();
  partition.stop();
});
