import { afterEach, beforeEach, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { InvocationRow } from "../../src/model/invocation.ts";
import type { Message } from "../../src/model/message.ts";
import { partitionOfId } from "../../src/model/ring.ts";
import type { Rows, Write } from "../../src/model/rows.ts";
import { deliverAll } from "../../src/partition/deliver_all.ts";
import type { Lease, SqlClient } from "../../src/ports.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { schema, targetOf } from "../support/schema.ts";
import { ask, idOf } from "./_installations.ts";

const PARTITIONS = 3;
let client: SqlClient, store: SqlStore, leases: Lease[];

beforeEach(async () => {
  client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  store = new SqlStore(client);
  leases = [];
  for (let i = 0; i < PARTITIONS; i++) leases.push(await store.claim(i));
});
afterEach(async () => {
  await store.close();
  await client.close();
});

/** An id that lives in this partition. */
function idIn(partition: number, name: string): string {
  for (let i = 0;; i++) {
    const id = idOf(`${name}${i}`);
    if (partitionOfId(id, PARTITIONS) === partition) return id;
  }
}

function invoked(id: string, caller?: string): Message {
  return {
    type: "invoked",
    id,
    fresh: true,
    target: targetOf("greeter/hi"),
    headers: [],
    value: new Uint8Array([1]),
    origin: { by: "ingress" },
    retention: { resultMs: 1_000_000, journalMs: 1_000_000 },
    ...(caller === undefined ? {} : { caller: { id: caller, completion: 1, type: 5 } }),
  };
}

const sent = (from: number, to: number, messages: readonly Message[], first = 1): Write[] => [
  ...messages.map((message, i): Write => ({
    table: "outbox",
    row: { from, to, seq: first + i, message },
    drop: false,
  })),
  {
    table: "peer",
    row: { from, to, sent: first + messages.length - 1, heard: 0 },
    drop: false,
  },
];

async function invocation(id: string): Promise<InvocationRow | undefined> {
  const lease = leases[partitionOfId(id, PARTITIONS)]!;
  const [loaded] = await store.load(lease, [{ table: "invocation", group: id }]);
  return loaded?.rows[0] as Rows["invocation"] | undefined;
}

const brought = () => deliverAll({ store, leases, clock: { now: () => 1_000 }, schema });

test("messages arrive in their order, and so do the messages that they cause", async () => {
  const [parent, child, other] = [idIn(0, "parent"), idIn(2, "child"), idIn(1, "other")];
  // A call that is killed before it arrives, and a call without a known caller.
  await store.commit(
    leases[0]!,
    sent(0, 2, [invoked(child, parent), { type: "killed", id: child }]),
  );
  await store.commit(leases[2]!, sent(2, 1, [invoked(other)]));
  // Two that were under way, and the answer to the caller of the one that was killed.
  expect(await brought()).toBe(4);
  expect((await invocation(child))?.status).toMatchObject({ kind: "completed", failure: {} });
  expect((await invocation(other))?.status).toEqual({ kind: "invoked" });
  await store.flushAll();
  expect(await ask(client, "select * from outbox")).toEqual([]);
  expect(await brought()).toBe(0);
});

test("a message that was received before is not applied twice", async () => {
  const id = idIn(1, "x");
  const signal: Message = {
    type: "signaled",
    signal: {
      target: id,
      id: { kind: "named", name: "go" },
      result: { kind: "value", value: new Uint8Array([7]) },
    },
  };
  await store.commit(leases[0]!, sent(0, 1, [invoked(id), signal]));
  expect(await brought()).toBe(2);
  // As if the process had ended before these were acknowledged.
  await store.commit(leases[0]!, sent(0, 1, [invoked(id), signal, signal]));
  expect(await brought()).toBe(3);
  const row = await invocation(id);
  expect(row?.journal).toBe(3);
  expect(row?.status).toEqual({ kind: "invoked" });
});

test("more messages than go at once, to several partitions", async () => {
  const ids = Array.from({ length: 300 }, (_, i) => idIn(1 + i % 2, `m${i}-`));
  for (const to of [1, 2]) {
    const own = ids.filter((id) => partitionOfId(id, PARTITIONS) === to);
    await store.commit(leases[0]!, sent(0, to, own.map((id) => invoked(id)), 5));
    // The numbers before were all acknowledged.
    await store.commit(leases[to]!, [
      { table: "peer", row: { from: to, to: 0, sent: 0, heard: 4 }, drop: false },
    ]);
  }
  expect(await brought()).toBe(300);
  for (const id of ids) expect((await invocation(id))?.status).toEqual({ kind: "invoked" });
});
