import { expect, test } from "vitest";
import { CLUSTER, subscribed, withServices } from "./_kafka.ts";
import { refusal, SUBSCRIPTIONS_MAX } from "./_setup.ts";

const SOURCE = `kafka://${CLUSTER}/topic`;
const SINK = "service://Greeter/greet";
const NOBODY = `sub_1${"0".repeat(22)}`;

test("a subscription is created with its own id as its group, and shown", async () => {
  const { post, get } = await withServices();
  const { status, headers, json } = await post("/subscriptions", { source: SOURCE, sink: SINK });
  expect([status, json]).toEqual([201, {
    id: expect.stringMatching(/^sub_1[0-9A-Za-z]{22}$/),
    source: SOURCE,
    sink: SINK,
    options: { "client.id": "svc", "group.id": json.id },
  }]);
  expect(headers.get("location")).toBe(`subscriptions/${json.id}`);
  const detailed = { ...json, state: "starting", partitions: [] };
  expect((await get(`/subscriptions/${json.id}`)).json).toEqual(detailed);
  expect((await get("/subscriptions")).json).toEqual({ subscriptions: [json] });
});

test("options are shown as given, secrets are not, and null is none", async () => {
  const { post } = await withServices();
  const options = { "group.id": "g", "client.id": "c", "sasl.password": "p" };
  const { json } = await post("/subscriptions", { source: SOURCE, sink: SINK, options });
  expect(json.options).toEqual({ ...options, "sasl.password": "***" });
  const none = await post("/subscriptions", { source: SOURCE, sink: SINK, options: null });
  expect([none.status, none.json.options]).toEqual([
    201,
    { "client.id": "svc", "group.id": none.json.id },
  ]);
});

test("group and client of the cluster hold, and a subscription keeps its group", async () => {
  const { post, patch, get } = await withServices();
  const properties = { "bootstrap.servers": "b:1", "group.id": "theirs", "client.id": "them" };
  await patch(`/kafka-clusters/${CLUSTER}`, { properties });
  const { json } = await post("/subscriptions", { source: SOURCE, sink: SINK });
  expect(json.options).toEqual({ "group.id": "theirs" });
  await patch(`/kafka-clusters/${CLUSTER}`, { properties: { "bootstrap.servers": "b:1" } });
  expect((await get(`/subscriptions/${json.id}`)).json.options).toEqual({
    "group.id": "theirs",
    "client.id": "svc",
  });
});

test.each([
  [`kafka://${CLUSTER}`, `kafka://${CLUSTER}/`],
  [`kafka://${CLUSTER}/t?x=1#y`, `kafka://${CLUSTER}/t`],
  [`kafka://${CLUSTER}/a/b`, `kafka://${CLUSTER}/a/b`],
  [`KAFKA://${CLUSTER}/a%20b`, `kafka://${CLUSTER}/a%20b`],
  [`kafka://${CLUSTER}/^prefix-.*`, `kafka://${CLUSTER}/^prefix-.*`],
])("the source %s is stored as %s", async (source, stored) => {
  const { post } = await withServices();
  const { status, json } = await post("/subscriptions", { source, sink: SINK });
  expect([status, json.source]).toEqual([201, stored]);
});

test.each(["Greeter/greet", "Private/hide", "Counter/add", "Counter/peek", "Flow/run"])(
  "%s may be a sink",
  async (handler) => {
    const { post } = await withServices();
    const sink = `service://${handler}`;
    const { status, json } = await post("/subscriptions", { source: SOURCE, sink });
    expect([status, json.sink]).toEqual([201, sink]);
  },
);

const NO_SINK = /^\[META0009\] invalid sink URI '.*': cannot find service\/handler specified/;
test.each([
  [{ sink: "service://Greeter/key/greet" }, 400, "META0009", NO_SINK],
  [{ sink: "service://Greeter/greet/x" }, 400, "META0009", NO_SINK],
  [{ sink: "service://Nope/greet" }, 400, "META0009", NO_SINK],
  [{ sink: "service://Greeter/nope" }, 400, "META0009", NO_SINK],
  [{ sink: "service://Greeter" }, 400, "META0009", NO_SINK],
  [{ sink: "service://Greeter/toString" }, 400, "META0009", NO_SINK],
  [{ sink: "service:///greet" }, 422, null, /such as service:\/\/SERVICE\/HANDLER$/],
  [{ sink: "http://Greeter/greet" }, 400, "META0009", /with supported schemes: \[service\]$/],
  [{ sink: "Greeter/greet" }, 422, null, /such as service:\/\/SERVICE\/HANDLER$/],
  [{ sink: "/Greeter/greet" }, 400, "META0009", /must have a scheme segment/],
  [{ sink: "service://Greeter/gr eet" }, 422, null, /at 'sink', expected a URI/],
  [{ source: "amqp://k/t" }, 400, "META0009", /with supported schemes: \[kafka\]$/],
  [{ source: "kafka:///t" }, 422, null, /such as kafka:\/\/CLUSTER\/TOPIC$/],
  [{ source: "kafka://zz/t" }, 400, "META0009", /Kafka cluster 'zz' not found\..*\["k"\]$/],
  [{ source: "kafka://k/a b" }, 422, null, /at 'source', expected a URI/],
  [{ source: "" }, 422, null, /at 'source'/],
  [{ source: `kafka://k/${"t".repeat(2000)}` }, 422, null, /up to 2000 characters/],
  [{ source: 1 }, 422, null, /at 'source', expected a string/],
  [{ options: { "group.id": null } }, 422, null, /at 'options\.group\.id', expected a string/],
  [{ options: { "group.id": 1 } }, 422, null, /at 'options\.group\.id', expected a string/],
  [{ options: [] }, 422, null, /at 'options', expected an object/],
  [{ options: { "foo.bar": "1" } }, 400, "META0009", /option "foo\.bar" does not exist/],
  [{ source: "kafka://k/^a(" }, 400, "META0009", /is no regular expression that can be used: /],
  [{ source: "kafka://k/^(a)%5C1" }, 400, "META0009", /refers to what was matched before$/],
  [{ source: "kafka://k/^((a%7B100%7D)%7B100%7D)+" }, 400, "META0009", /It is too large, /],
  [{ source: "kafka://k/%5Ea%5B" }, 400, "META0009", /is no regular expression that can be used: /],
  [{ options: { "on.poison": "dead-letter:topic" } }, 400, "META0009", /names 'topic', which the/],
  [{ options: { "on.poison": "drop" } }, 400, "META0009", /"on\.poison" must be block, skip or/],
])("%j is refused with %i %s", async (given, status, code, message) => {
  const { post, get } = await withServices();
  const body = { source: SOURCE, sink: SINK, ...given };
  const { status: is, json } = await post("/subscriptions", body);
  expect([is, json]).toEqual([status, refusal(code, expect.stringMatching(message))]);
  expect((await get("/subscriptions")).json.subscriptions).toEqual([]);
});

test("the same source and sink may be subscribed to twice, up to a limit", async () => {
  const { post, get } = await withServices();
  const create = () => post("/subscriptions", { source: SOURCE, sink: SINK });
  const ids: string[] = [];
  for (let n = 0; n < SUBSCRIPTIONS_MAX; n++) ids.push((await create()).json.id);
  expect(new Set(ids).size).toBe(SUBSCRIPTIONS_MAX);
  const { status, json } = await create();
  expect([status, json.message]).toEqual([
    409,
    expect.stringContaining(`raise the setting "kafka.subscriptions-limit"`),
  ]);
  const { subscriptions } = (await get("/subscriptions")).json;
  expect(subscriptions.map(({ id }: { id: string }) => id)).toEqual(ids);
});

test("a list is filtered by exact source and sink", async () => {
  const { post, get } = await withServices();
  const make = async (source: string, sink: string) =>
    (await post("/subscriptions", { source, sink })).json.id;
  const [a, b, c] = [
    await make("kafka://k/a", SINK),
    await make("kafka://k/a", "service://Counter/add"),
    await make("kafka://k/ab", SINK),
  ];
  const found = async (query: string) =>
    (await get(`/subscriptions?${query}`)).json.subscriptions.map(({ id }: { id: string }) => id);
  expect(await found("source=kafka://k/a")).toEqual([a, b]);
  expect(await found(`sink=${encodeURIComponent(SINK)}`)).toEqual([a, c]);
  expect(await found(`sink=${SINK}&source=kafka://k/a`)).toEqual([a]);
  expect(await found("source=kafka://k/")).toEqual([]);
});

test("PATCH sets and removes options, pauses and resumes, and keeps the id", async () => {
  const { subscription, path, patch, get, registry } = await subscribed();
  const { id } = subscription;
  const set = { "sasl.password": "p", "client.id": "me" };
  const changed = await patch(path, { options: set, paused: true });
  const shown = {
    ...subscription,
    options: { "client.id": "me", "group.id": id, "sasl.password": "***" },
    paused: true,
  };
  expect([changed.status, changed.json]).toEqual([200, shown]);
  const kept = { "sasl.password": "***", "client.id": null };
  expect((await patch(path, { options: kept })).json.options).toEqual({
    "client.id": "svc",
    "group.id": id,
    "sasl.password": "***",
  });
  expect(registry.kafka.subscription(id).options["sasl.password"]).toBe("p");
  expect((await patch(path, { paused: false })).json.paused).toBeUndefined();
  expect((await get(path)).json).toMatchObject((await patch(path, {})).json);
  expect((await patch(path, { options: { "group.id": "g" } })).json.options["group.id"]).toBe("g");
  expect((await patch(path, { options: { "group.id": null } })).json.options["group.id"]).toBe(id);
  const unknown = await patch(path, { options: { "client.ids": "c" } });
  expect([unknown.status, unknown.json.message]).toEqual([
    400,
    expect.stringContaining('did you mean "client.id"'),
  ]);
  const bad = await patch(path, { options: { "client.id": 1 } });
  expect([bad.status, bad.json.message]).toEqual([
    422,
    expect.stringContaining("options.client.id"),
  ]);
});

test("PATCH does not send dead letters to the topic that is read", async () => {
  const { path, patch } = await subscribed();
  const { status, json } = await patch(path, { options: { "on.poison": "dead-letter:topic" } });
  expect([status, json.message]).toEqual([400, expect.stringContaining("name another topic")]);
  const options = { "on.poison": "dead-letter:topic.dead" };
  expect((await patch(path, { options })).status).toBe(200);
});

test("a deleted subscription is gone", async () => {
  const { path, send, get } = await subscribed();
  const { status, text } = await send("DELETE", path);
  expect([status, text]).toEqual([202, ""]);
  expect((await get(path)).status).toBe(404);
  expect((await get("/subscriptions")).json.subscriptions).toEqual([]);
  expect((await send("DELETE", path)).status).toBe(404);
});

test("a subscription that is deleted with its group stays until a sidecar has deleted the group", async () => {
  const { subscription: { id }, path, send, get, patch, registry } = await subscribed();
  expect((await send("DELETE", `${path}?group=maybe`)).status).toBe(400);
  const { status, json } = await send("DELETE", `${path}?group=delete`);
  const message = expect.stringMatching(/ is not, since no sidecar has said anything of it yet/);
  expect([status, json]).toEqual([200, { group: id, is_deleted: false, message }]);
  for (
    const { status } of [
      await get(path),
      await patch(path, { paused: true }),
      await send("DELETE", path),
    ]
  ) {
    expect(status).toBe(404);
  }
  expect((await get("/subscriptions")).json.subscriptions).toEqual([]);
  const stored = () => registry.schema().controls.subscriptions.get(id);
  expect(stored()).toMatchObject({ isLeaving: true, options: { "group.id": id } });
  await registry.kafka.settle([NOBODY], () => true);
  expect(stored()).toBeDefined();
  await registry.kafka.settle([id], () => false);
  expect(stored()).toBeUndefined();
});

test("a group that another subscription uses is not deleted", async () => {
  const { post, send } = await withServices();
  const options = { "group.id": "shared" };
  const [one, two] = [
    (await post("/subscriptions", { source: SOURCE, sink: SINK, options })).json.id,
    (await post("/subscriptions", { source: SOURCE, sink: SINK, options })).json.id,
  ];
  const { status, json } = await send("DELETE", `/subscriptions/${one}?group=delete`);
  expect([status, json.message]).toEqual([409, expect.stringContaining(two)]);
  expect((await send("DELETE", `/subscriptions/${two}`)).status).toBe(202);
  expect((await send("DELETE", `/subscriptions/${one}?group=delete`)).status).toBe(200);
});

test("what leaves a cluster that is deleted is gone with it", async () => {
  const { subscription: { id }, path, send, registry } = await subscribed();
  await send("DELETE", `${path}?group=delete`);
  expect((await send("DELETE", `/kafka-clusters/${CLUSTER}`)).status).toBe(202);
  expect(registry.schema().controls.subscriptions.has(id)).toBe(false);
});

test("a record is named to be skipped, one of a partition, until it is passed", async () => {
  const { subscription: { id }, path, post, registry } = await subscribed();
  const place = { topic: "topic", partition: 3, offset: 7 };
  const { status, json } = await post(`${path}/skip`, place);
  expect([status, json]).toEqual([202, place]);
  const later = { ...place, offset: 9 };
  const other = { ...place, partition: 4 };
  await post(`${path}/skip`, other);
  await post(`${path}/skip`, later);
  expect(registry.kafka.subscription(id).skips).toEqual([other, later]);
  await registry.kafka.settle([], (_, { partition }) => partition === 4);
  expect(registry.kafka.subscription(id).skips).toEqual([later]);
  await registry.kafka.settle([], () => true);
  expect(registry.kafka.subscription(id)).not.toHaveProperty("skips");
});

test.each([
  [{ topic: "t" }, 422],
  [{ topic: "t", partition: 0, offset: -1 }, 422],
  [{ topic: "t".repeat(250), partition: 0, offset: 1 }, 422],
  [{}, 409],
])("to skip %j is refused with %i", async (body, status) => {
  const { path, post } = await subscribed();
  expect((await post(`${path}/skip`, body)).status).toBe(status);
});

test("ids that are none, or unknown, are refused", async () => {
  const { get, send, patch, post } = await withServices();
  for (const method of ["GET", "DELETE"]) {
    expect((await send(method, "/subscriptions/foo")).json).toEqual(
      refusal(null, "Cannot parse subscription id 'foo': bad format"),
    );
    expect((await send(method, `/subscriptions/${NOBODY}`)).json).toEqual(
      refusal(null, `The requested subscription '${NOBODY}' does not exist`),
    );
  }
  expect((await get("/subscriptions/dp_1")).status).toBe(400);
  expect((await patch(`/subscriptions/${NOBODY}`, {})).status).toBe(404);
  expect((await post(`/subscriptions/${NOBODY}/skip`, {})).status).toBe(404);
  expect((await send("PUT", `/subscriptions/${NOBODY}`)).status).toBe(405);
});
