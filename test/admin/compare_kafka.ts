import { type CompareRequest, many } from "./compare_request.ts";

const CLUSTERS = "/kafka-clusters";
const SUBSCRIPTIONS = "/subscriptions";
const SERVERS = { "bootstrap.servers": "127.0.0.1:1" };
const SOURCE = "kafka://k/topic";
const SINK = "service://Greeter/greet";
const NOBODY = `sub_1${"0".repeat(22)}`;

const bodies = (path: string, all: readonly unknown[]) =>
  all.map((body) => ({ method: "POST", path, body }));

/** Clusters: creating them, and how that is refused. */
const CREATING: readonly CompareRequest[] = [
  ...many("GET", [CLUSTERS, SUBSCRIPTIONS]),
  ...bodies(CLUSTERS, [
    { name: "k", properties: { ...SERVERS, "sasl.password": "p", "sasl.username": "u" } },
    { name: "k", properties: SERVERS },
    { name: "list", properties: { "metadata.broker.list": "" }, unknown: 1 },
    { name: "secrets", properties: { ...SERVERS, "ssl.key.password": "p", "ssl.key.pem": "k" } },
    { name: "none", properties: {} },
    { name: "none" },
    { properties: SERVERS },
    { name: "none", properties: { ...SERVERS, x: 1 } },
    ...["", "a b", "a/b", "é"].map((name) => ({ name, properties: SERVERS })),
    {},
    [],
  ]),
  { method: "POST", path: CLUSTERS, text: "{" },
  { method: "POST", path: CLUSTERS, text: "{}", contentType: "text/plain" },
  ...many("GET", [CLUSTERS, `${CLUSTERS}/k`, `${CLUSTERS}/nope`]),
  ...many("GET", [
    `${CLUSTERS}/k?include_subscriptions=true`,
    `${CLUSTERS}/k?include_subscriptions=no`,
  ]),
];

const SUBSCRIBING: readonly CompareRequest[] = [
  { method: "POST", path: SUBSCRIPTIONS, body: { source: SOURCE, sink: SINK }, learns: "sub" },
  ...bodies(SUBSCRIPTIONS, [
    { source: SOURCE, sink: SINK, options: null, id: "mine", paused: true },
    { source: SOURCE, sink: SINK, options: { "group.id": "g", "sasl.password": "p" } },
    { source: SOURCE, sink: SINK, options: { "client.id": "c" } },
    ...["kafka://k", "kafka://k/", "kafka://k/a/b", "kafka://k/t?x=1", "kafka://k/^p-.*"].map(
      (source) => ({ source, sink: SINK }),
    ),
    ...["kafka://zz/t", "amqp://k/t", "k/t", "/t", "kafka://k/a b", "", "kafka:///t", 1].map(
      (source) => ({ source, sink: SINK }),
    ),
    ...[
      ...["service://Greeter/key/greet", "service://Greeter/greet/x", "service://Nope/greet"],
      ...["service://Greeter/nope", "service://Greeter", "http://Greeter/greet", "Greeter/greet"],
      ...["service://Greeter/gr eet", "", "service:///greet"],
    ].map((sink) => ({ source: SOURCE, sink })),
    { source: SOURCE, sink: "service://Counter/add" },
    { source: SOURCE, sink: "service://Flow/run" },
    ...[{ "group.id": null }, { "group.id": 1 }, { x: true }, []].map(
      (options) => ({ source: SOURCE, sink: SINK, options }),
    ),
    {},
    { source: SOURCE },
  ]),
];

const LOOKING: readonly CompareRequest[] = [
  ...many("GET", [
    ...["", "/$sub", `/${NOBODY}`, "/foo", "/dp_1"].map((end) => `${SUBSCRIPTIONS}${end}`),
    `${SUBSCRIPTIONS}?source=kafka%3A%2F%2Fk%2Ftopic`,
    `${SUBSCRIPTIONS}?sink=service%3A%2F%2FCounter%2Fadd`,
    `${SUBSCRIPTIONS}?source=kafka%3A%2F%2Fk&sink=x`,
    `${CLUSTERS}/k?include_subscriptions=true`,
  ]),
];

const CHANGING: readonly CompareRequest[] = [
  ...[{ properties: { ...SERVERS, "group.id": "theirs" } }, { properties: {} }, {}].map((body) => ({
    method: "PATCH",
    path: `${CLUSTERS}/k`,
    body,
  })),
  { method: "PATCH", path: `${CLUSTERS}/nope`, body: { properties: SERVERS } },
  { method: "POST", path: SUBSCRIPTIONS, body: { source: SOURCE, sink: SINK } },
  { method: "GET", path: `${SUBSCRIPTIONS}/$sub` },
  { method: "PUT", path: `${SUBSCRIPTIONS}/$sub`, body: {} },
];

const DELETING: readonly CompareRequest[] = [
  ...many("DELETE", [`${SUBSCRIPTIONS}/$sub`, `${SUBSCRIPTIONS}/$sub`, `${SUBSCRIPTIONS}/foo`]),
  ...many("DELETE", [
    ...["nope", "nope?force=true", "list", "k", "k?force=maybe", "k?force=true", "k"].map((one) =>
      `${CLUSTERS}/${one}`
    ),
  ]),
  ...many("GET", [CLUSTERS, SUBSCRIPTIONS]),
];

/** Clusters and subscriptions. Options are those that both servers know. */
export const KAFKA: readonly CompareRequest[] = [
  CREATING,
  SUBSCRIBING,
  LOOKING,
  CHANGING,
  DELETING,
].flat();
