import { expect, test } from "vitest";
import { CLUSTERS_MAX, refusal, setup } from "./_setup.ts";
import { CLUSTER, subscribed } from "./_kafka.ts";

const SERVERS = { "bootstrap.servers": "broker:9092" };

test("a cluster is created, and shown without its secrets", async () => {
  const { post, get } = await setup();
  const properties = {
    ...SERVERS,
    "sasl.username": "u",
    "sasl.password": "p",
    "ssl.key.pem": "k",
    "client.id": "me",
  };
  const made = await post("/kafka-clusters", { name: "kc1", properties });
  expect([made.status, made.headers.get("location")]).toEqual([201, "kafka-clusters/kc1"]);
  const shown = {
    name: "kc1",
    properties: {
      "bootstrap.servers": "broker:9092",
      "client.id": "me",
      "sasl.password": "***",
      "sasl.username": "***",
      "ssl.key.pem": "***",
    },
    created_at: expect.stringMatching(/^2026-11-20T15:40:4\d\.\d{9}Z$/),
  };
  expect(made.json).toEqual(shown);
  expect((await get("/kafka-clusters/kc1")).json).toEqual({ ...shown, subscriptions: [] });
  expect((await get("/kafka-clusters")).json).toEqual({ clusters: [shown] });
});

test("clusters are listed by name", async () => {
  const { post, get } = await setup();
  for (const name of ["b", "A", "a.1"]) {
    await post("/kafka-clusters", { name, properties: { "metadata.broker.list": "b:9092" } });
  }
  const { clusters } = (await get("/kafka-clusters")).json;
  expect(clusters.map(({ name }: { name: string }) => name)).toEqual(["A", "a.1", "b"]);
});

test.each<readonly [body: unknown, status: number, message: RegExp]>([
  [{ properties: SERVERS }, 422, /at 'name', expected up to 255/],
  [{ name: "k" }, 422, /at 'properties', expected an object/],
  [{ name: "k", properties: { ...SERVERS, x: 1 } }, 422, /at 'properties\.x', expected a string/],
  [{ name: "k", properties: null }, 422, /at 'properties'/],
  ...["", "a b", "a/b", "é", "k".repeat(256)].map((name) =>
    [{ name, properties: SERVERS }, 422, /at 'name'/] as const
  ),
  [{ name: "k", properties: {} }, 400, /must contain either 'bootstrap.servers' or/],
  [{ name: "taken", properties: SERVERS }, 409, /it exists already/],
  [{ name: "k", properties: { ...SERVERS, "client.id": "c".repeat(200_000) } }, 400, /more than/],
])("%j is refused with %i", async (body, status, message) => {
  const { post, get } = await setup();
  await post("/kafka-clusters", { name: "taken", properties: SERVERS });
  const { status: is, json } = await post("/kafka-clusters", body);
  expect([is, json]).toEqual([status, refusal(null, expect.stringMatching(message))]);
  expect((await get("/kafka-clusters")).json.clusters).toHaveLength(1);
});

test.each([
  [{ "sesion.timeout.ms": "1" }, /option "sesion.timeout.ms" .*did you mean "session.timeout.ms"/],
  [{ "session.timeout.ms": "soon" }, /option "session.timeout.ms" must be a whole number/],
  [{ "key.deserializer": "x" }, /option "key.deserializer" is one of the Java client/],
  [{ "on.poison": "skip" }, /option "on.poison" belongs to a subscription/],
])("%j are refused with META0009", async (given, message) => {
  const { post, patch } = await setup();
  const properties = { ...SERVERS, ...given };
  const refused = refusal("META0009", expect.stringMatching(message));
  const { status, json } = await post("/kafka-clusters", { name: "k", properties });
  expect([status, json]).toEqual([400, refused]);
  await post("/kafka-clusters", { name: "k", properties: SERVERS });
  expect((await patch("/kafka-clusters/k", { properties })).json).toEqual(refused);
});

test("names are what a URI has as its authority", async () => {
  const { post } = await setup();
  for (const name of ["A-1._x~", "k".repeat(255)]) {
    expect((await post("/kafka-clusters", { name, properties: SERVERS })).status).toBe(201);
  }
});

test("there are not more clusters than may be", async () => {
  const { post } = await setup();
  const create = (n: number) => post("/kafka-clusters", { name: `k${n}`, properties: SERVERS });
  for (let n = 0; n < CLUSTERS_MAX; n++) expect((await create(n)).status).toBe(201);
  const { status, json } = await create(CLUSTERS_MAX);
  expect([status, json.message]).toEqual([
    409,
    expect.stringContaining(`raise the setting "kafka.clusters-limit"`),
  ]);
});

test("PATCH replaces all properties, and keeps a secret that is sent as it is shown", async () => {
  const { post, patch, get, registry } = await setup();
  const { json: made } = await post("/kafka-clusters", {
    name: "k",
    properties: { ...SERVERS, "client.id": "me", "sasl.password": "p", "ssl.key.password": "q" },
  });
  const after = { "bootstrap.servers": "other:1", "sasl.password": "***" };
  const { status, json } = await patch("/kafka-clusters/k", { properties: after });
  expect([status, json]).toEqual([200, { ...made, properties: after }]);
  expect((await get("/kafka-clusters/k")).json.properties).toEqual(after);
  expect(registry.schema().controls.clusters.get("k")?.properties).toEqual({
    "bootstrap.servers": "other:1",
    "sasl.password": "p",
  });
  const bare = await patch("/kafka-clusters/k", { properties: { "client.id": "x" } });
  expect([bare.status, bare.json.message]).toEqual([400, expect.stringContaining("must contain")]);
});

test("what does not exist is neither shown nor changed nor deleted", async () => {
  const { get, patch, send } = await setup();
  const missing = refusal(null, "The requested Kafka cluster 'nope' does not exist");
  for (
    const { status, json } of [
      await get("/kafka-clusters/nope"),
      await patch("/kafka-clusters/nope", { properties: SERVERS }),
      await send("DELETE", "/kafka-clusters/nope"),
      await send("DELETE", "/kafka-clusters/nope?force=true"),
    ]
  ) {
    expect([status, json]).toEqual([404, missing]);
  }
});

test("a cluster shows its subscriptions when asked, and no others", async () => {
  const world = await subscribed();
  const { subscription, post, get } = world;
  await post("/kafka-clusters", { name: "other", properties: SERVERS });
  await post("/subscriptions", { source: "kafka://other/t", sink: "service://Greeter/greet" });
  const { json } = await get(`/kafka-clusters/${CLUSTER}?include_subscriptions=true`);
  expect(json.subscriptions).toEqual([subscription]);
  expect((await get(`/kafka-clusters/${CLUSTER}`)).json.subscriptions).toEqual([]);
  const { status, json: bad } = await get(`/kafka-clusters/${CLUSTER}?include_subscriptions=1`);
  expect([status, bad.message]).toEqual([400, expect.stringContaining("include_subscriptions")]);
});

test("a cluster with subscriptions is deleted with force only, and they stay", async () => {
  const { subscription, send, get, post } = await subscribed();
  const { status, json } = await send("DELETE", `/kafka-clusters/${CLUSTER}`);
  expect([status, json]).toEqual([
    409,
    refusal(
      null,
      `Cannot delete Kafka cluster '${CLUSTER}': subscription '${subscription.id}' reads from it; ` +
        "delete that first, or repeat with 'force=true'",
    ),
  ]);
  const forced = await send("DELETE", `/kafka-clusters/${CLUSTER}?force=true`);
  expect([forced.status, forced.text]).toEqual([202, ""]);
  expect((await get(`/kafka-clusters/${CLUSTER}`)).status).toBe(404);
  expect((await get("/subscriptions")).json.subscriptions).toEqual([subscription]);
  expect((await post("/kafka-clusters", { name: CLUSTER, properties: SERVERS })).status).toBe(201);
});

test("a write that the store refuses is answered with 503, and nothing is shown of it", async () => {
  const { post, get, store } = await setup();
  store.faults.push("refuse");
  const { status, json } = await post("/kafka-clusters", { name: "k", properties: SERVERS });
  expect([status, json]).toEqual([
    503,
    refusal(null, "Cannot create a Kafka cluster: the store cannot be written"),
  ]);
  expect((await get("/kafka-clusters")).json.clusters).toEqual([]);
});
