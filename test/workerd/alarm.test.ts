import { afterEach, beforeEach, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { AlarmedStore, Alarms, HEARTBEAT_MS } from "../../adapters/workerd/alarm.ts";
import type { Status } from "../../src/model/invocation.ts";
import type { Rows, Write } from "../../src/model/rows.ts";
import type { Lease, SqlClient } from "../../src/ports.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { invocationRow } from "../support/rows.ts";

const NOW = 1_000_000;
const CLEANUP_MS = 60_000;

let client: SqlClient, store: AlarmedStore, alarms: Alarms, lease: Lease, set: number[];

beforeEach(async () => {
  client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  set = [];
  alarms = new Alarms({
    getAlarm: () => Promise.resolve(null),
    setAlarm: (due) => Promise.resolve(void set.push(due)),
  });
  store = new AlarmedStore(client, {
    clock: { now: () => NOW, at: () => () => {}, soon: (call) => queueMicrotask(call) },
    alarms,
    cleanupIntervalMs: CLEANUP_MS,
  });
  lease = await store.claim(0);
});
afterEach(() => store.close().then(() => client.close()));

const message: Rows["outbox"] = {
  from: 0,
  to: 1,
  seq: 1,
  message: { type: "killed", id: "inv_elsewhere" },
};
const put: Write = { table: "outbox", row: message, drop: false };

test("a message under way sets an alarm within the heartbeat", async () => {
  await store.commit(lease, [put]);
  expect(set).toEqual([NOW + HEARTBEAT_MS]);
  expect(await store.isBusy()).toBe(true);
});

test("a message that was acknowledged sets none, and the object may rest", async () => {
  await store.commit(lease, [put]);
  set = [];
  alarms.rang();
  await store.commit(lease, [{ ...put, drop: true }]);
  expect(set).toEqual([]);
  expect(await store.isBusy()).toBe(false);
});

test("a timer sets an alarm for when it is due, and a later one leaves the earlier alarm", async () => {
  const timer = (id: string, due: number): Write => (
    { table: "timer", row: { id, due, kind: "sleep", index: 1 }, drop: false }
  );
  await store.commit(lease, [timer("early", NOW + 5_000), timer("late", NOW + 50_000)]);
  await store.commit(lease, [timer("latest", NOW + 500_000), put]);
  expect(set).toEqual([NOW + 5_000]);
  expect(await store.due()).toBe(NOW + 5_000);
});

const invocation = (status: Status, expiresAt?: number): Write => (
  { table: "invocation", row: invocationRow({ status, expiresAt }), drop: false }
);

test("an attempt under way sets an alarm within the heartbeat, and keeps the object busy", async () => {
  await store.commit(lease, [invocation({ kind: "invoked" })]);
  expect(set).toEqual([NOW + HEARTBEAT_MS]);
  expect(await store.isBusy()).toBe(true);
});

test("what expires wakes the object a cleanup later, also when it has expired long since", async () => {
  await store.commit(lease, [invocation({ kind: "completed" }, NOW + 5_000)]);
  await store.flushAll();
  expect(await store.due()).toBe(NOW + 5_000 + CLEANUP_MS);
  await store.commit(lease, [invocation({ kind: "completed" }, NOW - 5_000)]);
  await store.flushAll();
  expect(await store.due()).toBe(NOW + CLEANUP_MS);
});
