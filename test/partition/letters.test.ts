import { afterEach, expect, test, vi } from "vitest";
import { NO_CONTROLS } from "../../src/model/limits.ts";
import type { OwedLetter } from "../../src/model/kafka.ts";
import { Schema } from "../../src/model/schema.ts";
import type { Host } from "../../src/partition/host.ts";
import type { HostOptions } from "../../src/partition/life.ts";
import { CLAIMED_MAX, Letters } from "../../src/partition/letters.ts";
import { Router } from "../../src/placement/router.ts";
import type { LettersRequest, Mailbox, Store } from "../../src/ports.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { invocationRow } from "../support/rows.ts";
import { deployment, schema as plain, targetOf } from "../support/schema.ts";
import { hostWith, idleAttempts } from "./_host.ts";

const ID = "inv_1dceKvwtEc2n5U1Qe8xhRaFwuQF5On9QaJ";
const options = { "max.attempts": "1", "on.poison": "dead-letter:dead" };
const subscription = { id: "sub_1", source: "", sink: "", options, createdAt: 0 };
const schema = new Schema([deployment], plain.defaults, {
  ...NO_CONTROLS,
  subscriptions: new Map([["sub_1", subscription]]),
});

const hosts: Host[] = [];
afterEach(() => {
  for (const host of hosts.splice(0)) host.close();
});

async function serve(store: Store, options: Partial<HostOptions> = {}) {
  const started: string[] = [];
  let send: Mailbox = () => {};
  const attempts = (mailbox: Mailbox) => {
    send = mailbox;
    return idleAttempts(started)(mailbox);
  };
  const host = hostWith({ store, attempts, schema: () => schema, ...options });
  hosts.push(host);
  await host.open();
  const router = new Router({ partitions: 1, partitionClient: () => host.partitionClient });
  const letters = ({ written = [], returned = [] }: Partial<LettersRequest> = {}) =>
    router.letters({ written, returned, bytesMax: 10 });
  return { host, started, letters, send: (...event: Parameters<Mailbox>) => send(...event) };
}

const FAILED = {
  kind: "failed",
  failure: { code: "RT0007", status: 500, message: "no" },
  reached: true,
} as const;

test("a letter outlives the process, goes to one sidecar, and is over once it is written", async () => {
  const store = new MemoryStore();
  const first = await serve(store);
  await first.host.partitionClient.send({
    ...{ id: ID, fresh: true, target: targetOf("greeter/hi"), headers: [["a", "b"]] },
    value: Uint8Array.of(7),
    origin: { by: "subscription", id: "sub_1" },
    retention: { resultMs: 1_000_000, journalMs: 0 },
  });
  await vi.waitFor(() => expect(first.started).toEqual([ID]));
  await new Promise<void>((durable) =>
    first.send({ type: "attemptEnded", id: ID, attempt: 1, outcome: FAILED, jitter: 0 }, durable)
  );
  const letter: OwedLetter = {
    ...{ id: ID, attempt: 1, subscription: "sub_1", at: expect.any(Number), reason: "no" },
    headers: [["a", "b"]],
    value: Uint8Array.of(7),
  };
  expect(await first.letters()).toEqual([letter]);
  expect(await first.letters()).toEqual([]);
  const told = [{ id: ID, attempt: 1 }];
  expect(await first.letters({ returned: told })).toEqual([letter]);
  first.host.close();

  const second = await serve(store);
  expect(await second.letters()).toEqual([letter]);
  expect(await second.host.partitionClient.output(ID)).toBe("notReady");
  expect(await second.letters({ written: told })).toEqual([]);
  expect(await second.host.partitionClient.output(ID)).toMatchObject({
    result: { kind: "failure", failure: { code: 500, message: "no" } },
  });
});

const owing = (n: number) =>
  invocationRow({
    id: `i${n}`,
    status: { kind: "paused", letterSince: 1 },
    origin: { by: "subscription", id: "sub_1" },
  });

test("claims end after a while, are given back, and come in turn", async () => {
  let now = 1_000;
  const letters = new Letters({ clock: { now: () => now }, load: async () => [] });
  for (let n = 0; n < CLAIMED_MAX + 1; n++) letters.invocationChanged(owing(n), false);
  const first = await letters.claim();
  expect(first).toHaveLength(CLAIMED_MAX);
  letters.release(["i3", "gone"]);
  expect(await letters.claim()).toEqual([`i${CLAIMED_MAX}`, "i3"]);
  expect(await letters.claim()).toEqual([]);
  letters.invocationChanged(owing(0), true);
  letters.invocationChanged({ ...owing(1), status: { kind: "invoked" } }, false);
  now += 60_000;
  expect(await letters.claim()).toHaveLength(CLAIMED_MAX - 1);
});

test("letters that were written are over, however small the mailbox is", async () => {
  const store = new MemoryStore(), lease = await store.claim(0);
  const retention = { resultMs: 1_000_000, journalMs: 0 };
  const ids = [ID, `${ID.slice(0, -2)}aK`];
  const rows = ids.map((id) => ({ ...owing(0), id, attempt: 1, retention }));
  await store.commit(lease, rows.map((row) => ({ table: "invocation", row, drop: false })));
  const { host, letters } = await serve(store, { mailboxEventsMax: 1 });
  expect(await letters({ written: ids.map((id) => ({ id, attempt: 1 })) })).toEqual([]);
  for (const id of ids) {
    const failed = { result: { kind: "failure" } };
    expect(await host.partitionClient.output(id)).toMatchObject(failed);
  }
});

test("what the store has is read page by page, and again if that fails", async () => {
  const store = new MemoryStore(), lease = await store.claim(0);
  const rows = Array.from({ length: 1_500 }, (_, n) => owing(n));
  rows.push({ ...owing(9_000), status: { kind: "paused" } });
  await store.commit(lease, rows.map((row) => ({ table: "invocation", row, drop: false })));
  let fails = 1;
  const letters = new Letters({
    clock: { now: () => 0 },
    load: async (after, limit) => {
      if (fails-- > 0) throw new Error("away");
      return await store.scan(lease, { kind: "letters", limit, ...(after && { after }) });
    },
  });
  await expect(letters.claim()).rejects.toThrow("away");
  let count = 0;
  for (let claimed; (claimed = await letters.claim()).length > 0;) count += claimed.length;
  expect(count).toBe(1_500);
});

test("what turns write while rows are read counts", async () => {
  const letters = new Letters({
    clock: { now: () => 0 },
    load: async () => {
      letters.invocationChanged(owing(2), false);
      letters.invocationChanged(owing(0), true);
      letters.invocationChanged(owing(1), true);
      letters.invocationChanged(owing(1), false);
      return [owing(0), owing(1)];
    },
  });
  expect((await letters.claim()).toSorted()).toEqual(["i1", "i2"]);
});
