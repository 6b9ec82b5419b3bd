import { expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { sqlKafkaStore } from "../../src/storage/kafka_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { withServices } from "./_kafka.ts";
import { AUTHORIZED, PLAN, RUNNING, served, settled } from "./_sidecar.ts";
import { FakeStore } from "./_setup.ts";

test("a report is shown, and each change of state is logged once", async () => {
  const { report, id, get, path, logged } = await served();
  expect((await get(path)).json).toMatchObject({ state: "starting", partitions: [] });
  const running = { ...RUNNING, id };
  for (let n = 0; n < 3; n++) {
    const { status, text } = await report({ member: "a", subscriptions: [running] });
    expect([status, text]).toEqual([204, ""]);
  }
  expect((await get(path)).json).toMatchObject({
    state: "running",
    partitions: [
      { topic: "topic", partition: 0, position: 3, end: 10, lag: 7 },
      { topic: "topic", partition: 1, position: 5, end: 5, lag: 0 },
    ],
  });
  const stoppedBy = { kind: "poison", message: "bad key" } as const;
  const lastError = { message: "bad key", at: Date.UTC(2026, 10, 20) };
  const blocked = {
    ...running,
    state: "blocked" as const,
    lastError,
    partitions: [{ topic: "topic", partition: 0, position: 3, end: 10, stoppedBy }],
  };
  for (let n = 0; n < 2; n++) await report({ member: "a", subscriptions: [blocked] });
  const { json } = await get(path);
  expect(json).toMatchObject({
    state: "blocked",
    last_error: { message: "bad key", at: "2026-11-20T00:00:00.000000000Z" },
    partitions: [{ partition: 0, lag: 7, stopped_by: stoppedBy }],
  });
  const changes = logged.filter(({ message }) => message.startsWith("A subscription has"));
  expect(changes.map(({ level, fields }) => [level, fields])).toEqual([
    ["info", { subscription: id, state: "running", sidecar: "a" }],
    ["warn", { subscription: id, state: "blocked", sidecar: "a", error: "bad key" }],
  ]);
});

test("errors that take turns are logged once each, and skipped records do not change a state", async () => {
  const { report, id, logged } = await served();
  const told = (state: string, message: string) =>
    report({
      member: "a",
      subscriptions: [{ ...RUNNING, id, state, lastError: { message, at: 1 } }],
    });
  for (let n = 0; n < 3; n++) {
    await told("blocked", "offset 1 of partition 0");
    await told("blocked", "offset 9 of partition 1");
  }
  for (let n = 0; n < 3; n++) await told("running", `offset ${n} is skipped`);
  await told("blocked", "offset 1 of partition 0");
  const changes = logged.filter(({ message }) => message.startsWith("A subscription has"));
  expect(changes.map(({ fields }) => [fields?.["state"], fields?.["error"]])).toEqual([
    ["blocked", "offset 1 of partition 0"],
    ["blocked", "offset 9 of partition 1"],
    ["running", undefined],
    ["blocked", "offset 1 of partition 0"],
  ]);
});

test("the record that blocks is skipped by name or without one, and settled by a report", async () => {
  const { report, id, post, path, registry } = await served();
  const stopped = (partition: number) => ({
    topic: "topic",
    partition,
    position: 3,
    stoppedBy: { kind: "poison", message: "bad" },
  });
  const blocked = (...partitions: object[]) =>
    report({ member: "a", subscriptions: [{ id, state: "blocked", partitions }] });
  await blocked(stopped(0), stopped(1));
  const several = await post(`${path}/skip`, {});
  expect([several.status, several.json.message]).toEqual([
    409,
    expect.stringContaining("several partitions are blocked"),
  ]);
  await blocked(stopped(0));
  const { status, json } = await post(`${path}/skip`, {});
  expect([status, json]).toEqual([202, { topic: "topic", partition: 0, offset: 3 }]);
  expect(registry.kafka.subscription(id).skips).toEqual([json]);
  await report({ member: "a", subscriptions: [{ ...RUNNING, id }] });
  expect(registry.kafka.subscription(id).skips).toEqual([json]);
  const passed = { topic: "topic", partition: 0, position: 4 };
  await report({ member: "a", subscriptions: [{ id, state: "running", partitions: [passed] }] });
  expect(registry.kafka.subscription(id).skips).toBeUndefined();
});

test("a group that is deleted ends a subscription that leaves, and who has asked hears of it", async () => {
  const { report, id, send, path, registry } = await served();
  await report({ member: "a", subscriptions: [{ ...RUNNING, id }] });
  const asked = send("DELETE", `${path}?group=delete`);
  await settled();
  await report({ member: "a", subscriptions: [], groupsDeleted: [id, "sub_other"] });
  expect(registry.schema().controls.subscriptions.size).toBe(0);
  const { status, json } = await asked;
  expect([status, json]).toEqual([200, { group: id, is_deleted: true }]);
});

test("who has asked to delete a group hears why it is there still", async () => {
  const { report, id, send, path } = await served();
  await report({ member: "a", subscriptions: [{ ...RUNNING, id }] });
  const asked = send("DELETE", `${path}?group=delete`);
  await settled();
  const kept = { id, message: "The broker is silent" };
  await report({
    member: "a",
    subscriptions: [],
    groupsKept: [kept, { ...kept, id: "sub_other" }],
  });
  expect((await asked).json).toEqual({
    group: id,
    is_deleted: false,
    message: expect.stringContaining("is not, since The broker is silent. Sidecars try again"),
  });
});

test("without a sidecar that says anything, the answer comes after a while", async () => {
  const { report, id, send, path, world } = await served();
  await report({ member: "a", subscriptions: [{ ...RUNNING, id }] });
  const asked = send("DELETE", `${path}?group=delete`);
  await settled();
  world.pass(15_000);
  expect((await asked).json).toMatchObject({ is_deleted: false });
});

test("commits that failed are counted once", async () => {
  const { report, id, world, kafka } = await served();
  for (const commitFailures of [2, 1]) {
    await report({ member: "a", subscriptions: [{ ...RUNNING, id, commitFailures }] });
  }
  await report({ member: "a", subscriptions: [{ ...RUNNING, id }] });
  expect([...world.counts.commitFailures]).toEqual([[id, 3]]);
  expect([...kafka.reports.known()].map(({ report }) => report)).toEqual([{ ...RUNNING, id }]);
});

test.each([
  [{ subscriptions: [] }, "member"],
  [{ member: "m".repeat(101), subscriptions: [] }, "member"],
  [{ member: "a" }, "subscriptions"],
  [{ member: "a", subscriptions: [{ id: "x", state: "odd", partitions: [] }] }, "state"],
  [{ member: "a", subscriptions: [{ id: "x", state: "running" }] }, "partitions"],
  [{
    member: "a",
    subscriptions: [{ id: "x", state: "running", partitions: [{ topic: "t", partition: -1 }] }],
  }, "partition"],
])("the report %j is refused with 422", async (body, field) => {
  const { report } = await served();
  const { status, json } = await report(body);
  expect([status, json.message]).toEqual([422, expect.stringContaining(field)]);
});

test("a subscription without a living sidecar says so", async () => {
  const { report, id, get, path, world, patch, send } = await served();
  world.pass(60_000);
  expect((await get(path)).json).toMatchObject({
    state: "failing",
    last_error: { message: expect.stringContaining("no Kafka sidecar has reported") },
  });
  await report({ member: "a", subscriptions: [{ ...RUNNING, id }] });
  expect((await get(path)).json.state).toBe("running");
  world.pass(60_000);
  expect((await get(path)).json).toMatchObject({ state: "failing", partitions: [{}, {}] });
  await patch(path, { paused: true });
  expect((await get(path)).json.state).toBe("paused");
  await patch(path, { paused: false });
  await report({ member: "a", subscriptions: [{ ...RUNNING, id }] });
  await send("DELETE", "/kafka-clusters/k?force=true");
  expect((await get(path)).json).toMatchObject({
    state: "failing",
    last_error: { message: expect.stringContaining("cluster of its source does not exist") },
  });
});

/** Two processes over one database, and the sidecar of the first one. */
async function twoProcesses() {
  const client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  let writes = 0;
  const store = sqlKafkaStore({
    batch: (mode, statements) => {
      if (mode === "write") writes++;
      return client.batch(mode, statements);
    },
    isRefused: (cause) => client.isRefused(cause),
    close: () => client.close(),
  });
  const catalog = new FakeStore();
  const one = await served(catalog, { kafkaStore: store });
  const two = await withServices(new FakeStore(), { kafkaStore: store });
  await two.registry.reload();
  return { one, two, client, writes: () => writes };
}

test("what one process was told is shown by another, and written when it changes", async () => {
  const { one, two, client, writes } = await twoProcesses();
  const { id, report, world } = one;
  const subscription = one.registry.kafka.subscription(id);
  const running = { ...RUNNING, id };
  const told = (...all: object[]) => report({ member: "a", subscriptions: all });
  const seen = async () => {
    two.world.now = world.now;
    return await two.kafka.statusOf(subscription);
  };
  await told(running);
  const before = writes();
  expect((await seen()).state).toBe("running");
  const moved = { ...running, partitions: [{ topic: "topic", partition: 0, position: 9 }] };
  await told({ ...running, partitions: running.partitions.map((p) => ({ ...p, position: 9 })) });
  expect(writes()).toBe(before);
  // The process that was told knows more than what is written.
  const own = await one.kafka.statusOf(subscription);
  expect(own.partitions.map(({ position }) => position)).toEqual([9, 9]);
  await told(moved);
  expect([writes(), (await seen()).partitions]).toEqual([before + 1, moved.partitions]);
  world.pass(10_000);
  await told(moved);
  expect(writes()).toBe(before + 2);
  world.pass(25_000);
  expect((await seen()).state).toBe("running");
  world.pass(25_000);
  expect((await seen()).state).toBe("failing");
  await told();
  expect(await seen()).toMatchObject({ state: "failing", partitions: [] });
  client.close();
});

test("the token is kept with the data, and is the same in every process", async () => {
  const { one, two, client } = await twoProcesses();
  const [first, second] = [await one.kafka.token(), await two.kafka.token()];
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(second).toBe(first);
  expect((await one.send("GET", PLAN, { headers: AUTHORIZED })).status).toBe(401);
  client.close();
});

test("while the store cannot be written or read, reports and states are answered with 503", async () => {
  const fault = () => Promise.reject(new Error("the disk is on fire"));
  const kafkaStore = {
    token: (fresh: string) => Promise.resolve(fresh),
    reports: fault,
    save: fault,
  };
  const { report, id, get, path } = await served(new FakeStore(), { kafkaStore });
  const { status, json } = await report({ member: "a", subscriptions: [{ ...RUNNING, id }] });
  expect([status, json.message]).toEqual([503, expect.stringContaining("cannot be written")]);
  expect((await get(path)).status).toBe(503);
});
