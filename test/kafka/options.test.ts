import { describe, expect, test } from "vitest";
import {
  brokersOf,
  checkOptions,
  effectiveOptions,
  ignoredOptions,
  offsetResetOf,
  redacted,
} from "../../src/kafka/options.ts";

const subscription = (options: Record<string, string>) =>
  checkOptions(options, { of: "subscription" });
const cluster = (options: Record<string, string>) => checkOptions(options, { of: "cluster" });

describe("options of clusters and subscriptions", () => {
  test("names that the reference's users rely on are known", () => {
    const relied = {
      "auto.offset.reset": "smallest",
      "group.id": "g",
      "client.id": "",
      "session.timeout.ms": "6000",
      "heartbeat.interval.ms": "2000",
      "topic.metadata.refresh.interval.ms": "-1",
      "fetch.wait.max.ms": "10",
      "security.protocol": "SASL_SSL",
      "sasl.mechanism": "SCRAM-SHA-512",
      "sasl.mechanisms": "PLAIN",
      "sasl.username": "u",
      "sasl.password": "p",
      "ssl.ca.pem": "-----BEGIN",
      "ssl.ca.location": "/ca.pem",
      "enable.auto.commit": "false",
      "enable.auto.offset.store": "true",
      "metadata.broker.list": "",
    };
    expect(subscription(relied)).toEqual([]);
    expect(cluster(relied)).toEqual([]);
  });

  test("a name that does not exist is refused with the nearest one", () => {
    expect(subscription({ "foo.bar": "1" })).toEqual(['option "foo.bar" does not exist']);
    expect(subscription({ "auto.offset.resett": "latest" })).toEqual([
      'option "auto.offset.resett" does not exist, did you mean "auto.offset.reset"',
    ]);
    expect(subscription({ "on.poisen": "skip" })).toEqual([
      'option "on.poisen" does not exist, did you mean "on.poison"',
    ]);
    expect(subscription({ "constructor": "1" })).toEqual(['option "constructor" does not exist']);
  });

  test("names of the Java client are refused with what replaces them", () => {
    expect(cluster({ "key.deserializer": "x" })).toEqual([
      'option "key.deserializer" is one of the Java client',
    ]);
    expect(cluster({ "sasl.jaas.config": "secret" })).toEqual([
      'option "sasl.jaas.config" is one of the Java client, use sasl.username, sasl.password',
    ]);
  });

  test.each([
    ["auto.offset.reset", "weird", /must be one of earliest, .*, not "weird"/],
    ["session.timeout.ms", "soon", /must be a whole number from 1 to 3600000, not "soon"/],
    ["session.timeout.ms", "0", /from 1 to/],
    ["fetch.wait.max.ms", "300001", /from 0 to 300000/],
    ["isolation.level", "", /must be one of/],
    ["sasl.mechanism", "GSSAPI", /must be one of plain, scram/],
    ["partition.assignment.strategy", "range,cooperative-sticky", /must be one of range, round/],
    ["group.protocol", "consumer", /must be one of classic/],
    ["group.id", " ", /must not be empty/],
    ["enable.ssl.certificate.verification", "no", /must be "true" or "false"/],
    [
      "sasl.oauthbearer.token.endpoint.url",
      "secret-host",
      /^option "\S+" must be an http\S+ or https\S+ URL$/,
    ],
    ["sasl.kerberos.keytab", "/k", /is not supported/],
  ])("%s = %s is refused", (name, value, problem) => {
    expect(subscription({ [name]: value })).toEqual([expect.stringMatching(problem)]);
  });

  test("a heartbeat must come more often than the session ends", () => {
    expect(cluster({ "session.timeout.ms": "3000", "heartbeat.interval.ms": "3000" })).toEqual([
      'option "heartbeat.interval.ms" must be less than "session.timeout.ms", 3000',
    ]);
  });
});

describe("options beyond those of librdkafka", () => {
  test.each([
    ["key.encoding", "utf8"],
    ["key.encoding", "header:tenant"],
    ["key.encoding", "json:/user/id"],
    ["headers.prefix", "record-"],
    ["filter", "header:kind=order"],
    ["filter", "json:/kind=a=b"],
    ["offset.start", "2026-11-20T10:00:00Z"],
    ["offset.start", "2026-11-20T10:00:00.5+01:00"],
    ["on.poison", "block"],
    ["on.poison", "dead-letter:orders.dead"],
    ["max.attempts", "3"],
  ])("%s = %s is taken by a subscription and refused by a cluster", (name, value) => {
    expect(subscription({ [name]: value })).toEqual([]);
    expect(cluster({ [name]: value })).toEqual([
      `option "${name}" belongs to a subscription, not to a cluster`,
    ]);
  });

  test.each([
    ["key.encoding", "utf-8"],
    ["key.encoding", "header:"],
    ["key.encoding", "json:user"],
    ["headers.prefix", ""],
    ["headers.prefix", "a b"],
    ["headers.prefix", "Kafka.x"],
    ["filter", "header:kind"],
    ["filter", "value=1"],
    ["offset.start", "2026-11-20"],
    ["offset.start", "2026-13-20T10:00:00Z"],
    ["on.poison", "dead-letter:"],
    ["on.poison", "dead-letter:.."],
    ["on.poison", "ignore"],
    ["max.attempts", "0"],
  ])("%s = %j is refused", (name, value) => {
    expect(subscription({ [name]: value })).toHaveLength(1);
  });
});

describe("options in force", () => {
  test("those of the subscription replace those of the cluster, under any name", () => {
    const merged = effectiveOptions(
      { "metadata.broker.list": "a", "client.id": "c" },
      { "bootstrap.servers": "SASL_SSL://b:1, c ,", "client.id": "d" },
    );
    expect(merged).toEqual({ "bootstrap.servers": "SASL_SSL://b:1, c ,", "client.id": "d" });
    expect(brokersOf(merged)).toEqual(["b:1", "c:9092"]);
  });

  test("the words for where to start mean three things", () => {
    const of = (word: string) => offsetResetOf({ "auto.offset.reset": word });
    expect(["earliest", "Smallest", "beginning"].map(of)).toEqual(Array(3).fill("earliest"));
    expect(["latest", "largest", "end"].map(of)).toEqual(Array(3).fill("latest"));
    expect([of("error"), offsetResetOf({})]).toEqual(["error", "latest"]);
  });

  test("options without effect are listed for a warning", () => {
    expect(ignoredOptions({ "linger.ms": "5", "group.id": "g", "enable.auto.commit": "1" }))
      .toEqual(["linger.ms"]);
  });

  test("secrets are shown as stars, certificates in clear", () => {
    const shown = redacted({
      "sasl.password": "p",
      "sasl.username": "u",
      "sasl.jaas.config": "j",
      "ssl.key.password": "p",
      "ssl.key.pem": "k",
      "ssl.ca.pem": "c",
      "SASL.PASSWORD": "p",
      "sasl.oauthbearer.token.command": "cat /token",
      "group.id": "g",
    });
    expect(Object.entries(shown).filter(([, value]) => value !== "***")).toEqual([
      ["ssl.ca.pem", "c"],
      ["group.id", "g"],
    ]);
  });
});
