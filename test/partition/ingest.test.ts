import { afterEach, expect, test, vi } from "vitest";
import type { RecordRequest } from "../../src/engine/event.ts";
import { recordIdsOf } from "../../src/kafka/record_id.ts";
import type { Want } from "../../src/model/rows.ts";
import type { Host } from "../../src/partition/host.ts";
import { Unreadable } from "../../src/model/unreadable.ts";
import { Router } from "../../src/placement/router.ts";
import type { Mailbox, Store } from "../../src/ports.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { targetOf } from "../support/schema.ts";
import { hostWith, idleAttempts } from "./_host.ts";

const SOURCE = { subscription: "sub_1", group: "g", topic: "t", partition: 0 };
const idOf = recordIdsOf(SOURCE);

function recordOf(offset: number, path: string): RecordRequest {
  const target = targetOf(path);
  const { service, handler, key } = target;
  const identity = { service, handler, isWorkflowRun: false, ...(key !== undefined && { key }) };
  return {
    offset,
    request: {
      ...idOf(offset, identity),
      target,
      headers: [],
      value: new Uint8Array([offset % 256]),
      origin: { by: "subscription", id: SOURCE.subscription },
      retention: { resultMs: 0, journalMs: 0 },
    },
  };
}

const FAILED = {
  kind: "failed",
  failure: { code: "RT0007", status: 500, message: "x" },
  reached: true,
  behavior: "fail",
} as const;

const hosts: Host[] = [];
afterEach(() => {
  for (const host of hosts.splice(0)) host.close();
});

/** A host over a store, whose attempts are counted and do nothing. */
async function serve(store: Store, subscriptionInboxMax = 10_000) {
  const started: string[] = [];
  let send: Mailbox = () => {};
  const attempts = (mailbox: Mailbox) => {
    send = mailbox;
    return idleAttempts(started)(mailbox);
  };
  const host = hostWith({ store, attempts, subscriptionInboxMax });
  hosts.push(host);
  await host.open();
  const router = new Router({ partitions: 1, partitionClient: () => host.partitionClient });
  const ingest = (records: readonly RecordRequest[], next: number) =>
    router.ingest({ source: SOURCE, next, records });
  return { host, started, ingest, send: (...event: Parameters<Mailbox>) => send(...event) };
}

test("a thousand records cost one load of rows, however cold the partition is", async () => {
  const store = new MemoryStore(), loads: Want[][] = [];
  const load = store.load.bind(store);
  store.load = (lease, wants) => {
    loads.push([...wants]);
    return load(lease, wants);
  };
  const { ingest, started } = await serve(store);
  const records = Array.from({ length: 1_000 }, (_, n) => recordOf(n, `counter/k${n % 300}/add`));
  expect(await ingest(records, 1_000)).toEqual({ next: 1_000 });
  expect(loads.map(({ length }) => length)).toEqual([1 + 2 * 300]);
  expect(started.length).toBe(300);
  expect(await ingest(records, 1_000)).toEqual({ next: 1_000, replays: 1_000 });
  expect(loads.length).toBe(1);
});

test("the inbox of a subscription counts over restarts, and whatever ends an invocation makes room", async () => {
  const store = new MemoryStore();
  const records = Array.from({ length: 6 }, (_, n) => recordOf(n, "counter/bob/add"));
  const first = await serve(store, 3);
  expect(await first.ingest(records, 6)).toEqual({ next: 3, isFull: true });
  first.host.close();

  const { host: { partitionClient }, ingest, send, started } = await serve(store, 3);
  expect(await ingest(records.slice(3), 6)).toEqual({ next: 3, isFull: true });
  const [a, b, c, d] = records.map(({ request: { id } }) => id) as [string, string, string, string];
  // One that waits is killed, and has room for the next one.
  await partitionClient.operate(c, { kind: "kill" });
  expect(await ingest(records.slice(3), 6)).toEqual({ next: 4, isFull: true });
  // One that runs comes to its end: the lock goes to the next one.
  await vi.waitFor(() => expect(started).toEqual([a]));
  send({ type: "attemptEnded", id: a, attempt: 2, outcome: FAILED, jitter: 0 });
  await vi.waitFor(() => expect(started).toEqual([a, b]));
  expect(await ingest(records.slice(4), 6)).toEqual({ next: 5, isFull: true });
  await partitionClient.operate(b, { kind: "kill" });
  expect(await ingest(records.slice(5), 6)).toEqual({ next: 6 });
  await vi.waitFor(() => expect(started).toEqual([a, b, d]));
});

test("a damaged row refuses the records that need it, and no other", async () => {
  const store = new MemoryStore();
  const load = store.load.bind(store);
  const damaged = new Set(["counter/k3", "counter/k7"]);
  store.load = async (lease, wants) => {
    const bad = wants.find(({ table, group }) => table === "lock" && damaged.has(group));
    if (bad) throw new Unreadable("lock", bad.group);
    return await load(lease, wants);
  };
  const { ingest, started } = await serve(store);
  const records = Array.from({ length: 10 }, (_, n) => recordOf(n, `counter/k${n}/add`));
  const damage = (group: string) => expect.stringMatching(`RT0028.*lock "${group}"`);
  expect(await ingest(records, 10)).toEqual({ next: 3, damage: damage("counter/k3") });
  expect(await ingest(records, 10)).toEqual({
    next: 3,
    damage: damage("counter/k3"),
    replays: 3,
  });
  // The sidecar has set it aside.
  expect(await ingest(records.slice(4), 10)).toEqual({ next: 7, damage: damage("counter/k7") });
  expect(await ingest(records.slice(8), 10)).toEqual({ next: 10 });
  await vi.waitFor(() => expect(started).toHaveLength(8));
});

test("without the row of the source no record is refused as if it were at fault", async () => {
  const store = new MemoryStore();
  store.load = (_, [want]) =>
    Promise.reject(new Unreadable(want?.table ?? "source", want?.group ?? ""));
  const { ingest } = await serve(store);
  await expect(ingest([recordOf(0, "greeter/hi")], 1)).rejects.toMatchObject({ code: "RT0028" });
});

test("offsets that do not grow, and a batch that ends before its last record, are refused", async () => {
  const { ingest } = await serve(new MemoryStore());
  const [a, b] = [recordOf(4, "greeter/hi"), recordOf(5, "greeter/hi")];
  await expect(ingest([b, a], 6)).rejects.toMatchObject({ status: 400 });
  await expect(ingest([a, a], 6)).rejects.toMatchObject({ status: 400 });
  await expect(ingest([a, b], 5)).rejects.toMatchObject({ status: 400 });
  expect(await ingest([], 9)).toEqual({ next: 9 });
});
