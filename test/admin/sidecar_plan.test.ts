import { expect, test } from "vitest";
import { subscribed } from "./_kafka.ts";
import { PLAN, RECORDS, REPORTS, served, settled } from "./_sidecar.ts";
import { TOKEN } from "./_kafka_admin.ts";
import { refusal } from "./_setup.ts";

test.each([
  ["GET", PLAN, {}],
  ["GET", PLAN, { authorization: "" }],
  ["GET", PLAN, { authorization: TOKEN }],
  ["GET", PLAN, { authorization: `Bearer ${TOKEN}x` }],
  ["GET", PLAN, { authorization: `bearer ${TOKEN}` }],
  ["GET", PLAN, { authorization: `Bearer ${TOKEN.replace("0", "1")}` }],
  ["POST", RECORDS, { authorization: "Bearer " }],
  ["POST", REPORTS, { "content-type": "application/json" }],
])("%s %s with %j is refused with 401", async (method, path, headers) => {
  const { send, world } = await subscribed();
  const { status, headers: answered, json } = await send(method, path, { headers });
  expect([status, answered.get("www-authenticate")]).toEqual([401, "Bearer"]);
  expect(json).toEqual(refusal(null, expect.stringContaining(`"kafka.token"`)));
  expect(world.batches).toEqual([]);
});

test("the plan has everything that a sidecar needs, with secrets in clear", async () => {
  const { plan, id } = await served();
  const { status, json } = await plan();
  expect([status, json]).toEqual([200, {
    version: expect.stringMatching(/^[0-9a-f]{32}$/),
    isScopeRead: false,
    clusters: [{
      name: "k",
      properties: { "bootstrap.servers": "broker:9092", "sasl.password": "secret" },
      createdAt: expect.any(Number),
    }],
    subscriptions: [{
      id,
      source: "kafka://k/topic",
      sink: "service://Greeter/greet",
      options: { "group.id": id },
      sinkType: "service",
      createdAt: expect.any(Number),
    }],
  }]);
});

test("a plan that is known is answered with 304, at once or after the wait", async () => {
  const { plan, world } = await served();
  const { version } = (await plan()).json;
  expect((await plan("?known=other&wait=30000")).json.version).toBe(version);
  const { status, text } = await plan(`?known=${version}`);
  expect([status, text]).toEqual([304, ""]);
  const waiting = plan(`?known=${version}&wait=30000`);
  await settled();
  world.pass(30_000);
  expect((await waiting).status).toBe(304);
});

test.each(["x", "-1", "30001", "1.5", "999999", ""])("a wait of %j is refused", async (wait) => {
  const { plan } = await served();
  expect((await plan(`?wait=${wait}`)).status).toBe(400);
});

test("a change is felt by a request that waits", async () => {
  const { plan, patch, path, send, kafka, post, register, endpoints, logged } = await served();
  let { version } = (await plan()).json;
  // The last one waits for what becomes of the group.
  const changed: Promise<unknown>[] = [];
  const changes = [
    () => patch(path, { paused: true }),
    () => patch("/kafka-clusters/k", { properties: { "bootstrap.servers": "b:1" } }),
    () => post(`${path}/skip`, { topic: "topic", partition: 0, offset: 3 }),
    () => send("DELETE", `${path}?group=delete`),
  ];
  for (const change of changes) {
    const waiting = plan(`?known=${version}&wait=30000`);
    await settled();
    expect(kafka.feed.isAsked).toBe(true);
    changed.push(change());
    const { status, json } = await waiting;
    expect([status, json.version === version]).toEqual([200, false]);
    version = json.version;
  }
  const { subscriptions } = (await plan()).json;
  expect(subscriptions).toMatchObject([{ isLeaving: true, paused: true }]);
  expect(kafka.feed.isAsked).toBe(false);
  const waiting = plan(`?known=${version}&wait=30000`);
  await settled();
  endpoints.set("http://other/", endpoints.get("http://services/")!);
  await register({ uri: "http://other/" });
  await send("DELETE", "/deployments/nope");
  const own = plan(`?known=${version}&wait=30000&own=true`);
  await settled();
  const { length } = logged;
  kafka.feed.end();
  // Its own sidecar is to end as well. An end in order is nothing to warn about.
  expect([(await waiting).status, (await own).status]).toEqual([503, 410]);
  expect(logged.slice(length)).toEqual([]);
});

test("a sink that is not registered any more has no type", async () => {
  const { plan, send, registry } = await served();
  const before = (await plan()).json.version;
  const [{ id: deployment } = { id: "" }] = registry.list();
  await send("DELETE", `/deployments/${deployment}?force=true`);
  const { version, subscriptions } = (await plan()).json;
  expect(subscriptions[0]).not.toHaveProperty("sinkType");
  expect(version).not.toBe(before);
});

test("a request whose caller leaves does not wait, and not too many wait", async () => {
  const { kafka } = await served();
  const { version } = kafka.feed.current();
  const left = new AbortController();
  const waiting = kafka.feed.after(version, 30_000, left.signal);
  const others = Array.from({ length: 99 }, () => kafka.feed.after(version, 30_000));
  await expect(kafka.feed.after(version, 30_000)).rejects.toMatchObject({ status: 503 });
  left.abort();
  expect(await waiting).toBeUndefined();
  kafka.feed.end();
  for (const other of others) expect(await other).toBe("ended");
});

test("a sidecar is at work while it asks, and for a while after", async () => {
  const { kafka, plan, world } = await served();
  expect([kafka.isWanted(), kafka.isServed()]).toEqual([true, false]);
  await plan();
  expect(kafka.isServed()).toBe(true);
  world.pass(20_000);
  expect(kafka.isServed()).toBe(false);
});
