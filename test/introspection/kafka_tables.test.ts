import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openLocal } from "../../adapters/libsql/file/local_client.ts";
import { GONE, GONE_MS, LOST, statusOf } from "../../src/kafka/status.ts";
import type { MemberReport } from "../../src/kafka_port.ts";
import { lagOf, type Subscription } from "../../src/model/kafka.ts";
import type { Introspection } from "../../src/query_port.ts";
import { sqlDeploymentStore } from "../../src/storage/deployment_store.ts";
import { sqlKafkaStore } from "../../src/storage/kafka_store.ts";
import { rowsOf } from "./_small.ts";
import { Asking, Files, inFile } from "./_united.ts";

// The tables of Kafka, in one file and in two; states and partitions are those that the admin API shows.

const NOW = Date.UTC(2026, 10, 20, 12);
const iso = (ms: number) => new Date(ms).toISOString();

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
/** Around the age beyond which a sidecar is gone; no two of them are the same. */
const age = (member: number) =>
  fc.constantFrom(0, GONE_MS - 10, GONE_MS + 10, 2 * GONE_MS).map((ms) => ms + member);

const partition = fc.record({
  topic: fc.constantFrom("a", "b"),
  partition: fc.nat(2),
  position: maybe(fc.nat(20)),
  end: maybe(fc.nat(20)),
  stoppedBy: maybe(fc.constant({ kind: "poison" as const, message: "bad 'key'" })),
});

const told = (member: number) =>
  fc.record({
    member: fc.constant(`m${member}`),
    at: age(member).map((ms) => NOW - ms),
    report: fc.record({
      id: fc.constant(""),
      state: fc.constantFrom("starting", "running", "blocked", "failing"),
      lastError: maybe(fc.record({
        message: fc.constant(`error of ${member}`),
        at: fc.constant(NOW - 7 * member),
      })),
      partitions: fc.uniqueArray(partition, {
        maxLength: 4,
        selector: (one) => `${one.topic}/${one.partition}`,
      }),
    }),
  });

/** One subscription, and what at most three sidecars say of it. */
const subscribed = fc.record({
  paused: fc.boolean(),
  isLost: fc.boolean(),
  createdAt: fc.constantFrom(NOW - 3 * GONE_MS, NOW - 100),
  reports: fc.tuple(maybe(told(1)), maybe(told(2)), maybe(told(3))),
});

const CASES = fc.sample(subscribed, { numRuns: 300, seed: 7 }).map((given, n) => {
  const { reports, isLost, paused, createdAt } = JSON.parse(JSON.stringify(given)) as typeof given;
  const id = `sub_1${String(n).padStart(22, "0")}`;
  const subscription: Subscription = {
    id,
    source: `kafka://${isLost ? "gone" : "k"}/orders/x`,
    sink: "service://Greeter/greet",
    options: { "group.id": "g'", "sasl.password": "hidden", "client.id": "c" },
    createdAt,
    ...(paused && { paused }),
  };
  const all = reports.flatMap((one) => one ? [{ ...one, report: { ...one.report, id } }] : []);
  return { subscription, isLost, reports: all as MemberReport[] };
});

const files = new Files();
const asking = new Asking();
const open: Record<string, Introspection> = {};

/** What sidecars report as a whole: the time of each is that of its subscription, so each has a name of its own. */
async function fill(url: string): Promise<void> {
  const client = await openLocal({ url });
  const leaving = { ...CASES[0]!.subscription, id: "sub_leaving", isLeaving: true } as const;
  const all = [...CASES.map(({ subscription }) => subscription), leaving];
  const cluster = { "bootstrap.servers": "b:1", "ssl.key.pem": "hidden" };
  await sqlDeploymentStore(client).control({
    clusters: new Map([["k", { name: "k", properties: cluster, createdAt: NOW }]]),
    subscriptions: new Map(all.map((one) => [one.id, one])),
  });
  const store = sqlKafkaStore(client);
  for (const { reports } of CASES) {
    for (const { member, at, report } of reports) {
      await store.save(`${member} of ${report.id}`, { all: [report], at }, 0);
    }
  }
  await client.close();
}

beforeAll(async () => {
  const options = { clock: { now: () => NOW } };
  const one = await files.make("all.db", {});
  await fill(one);
  const first = await files.make("first.db", {});
  await fill(first);
  const second = await files.make("second.db", {});
  open["one file"] = asking.open([inFile(one)], options);
  open["two files"] = asking.open([inFile(first), inFile(second)], options);
}, 60_000);

afterAll(async () => {
  await asking.close();
  await files.close();
});

describe.each(["one file", "two files"])("of %s", (from) => {
  const rows = (sql: string) => rowsOf(open[from]!, sql);

  test("clusters and options have no secrets", async () => {
    const [cluster] = await rows("SELECT * FROM sys_kafka_cluster") as Record<string, string>[];
    expect({ ...cluster, properties: JSON.parse(cluster!["properties"]!) }).toEqual({
      name: "k",
      properties: { "bootstrap.servers": "b:1", "ssl.key.pem": "***" },
      created_at: expect.stringContaining("2026-11-20T12:00:00"),
    });
    const { subscription: { id } } = CASES.find((one) => !one.isLost)!;
    const [row] = await rows(
      `SELECT source, sink, cluster, topic, service_name, handler_name, group_id, options
        FROM sys_subscription WHERE id = '${id}'`,
    ) as Record<string, string>[];
    expect({ ...row, options: JSON.parse(row!["options"]!) }).toEqual({
      source: "kafka://k/orders/x",
      sink: "service://Greeter/greet",
      cluster: "k",
      topic: "orders/x",
      service_name: "Greeter",
      handler_name: "greet",
      group_id: "g'",
      options: { "group.id": "g'", "sasl.password": "***", "client.id": "c" },
    });
  });

  test("states and errors are those of the admin API", async () => {
    const found = await rows(
      "SELECT id, paused, state, last_error, last_error_at FROM sys_subscription ORDER BY id",
    );
    const wanted = CASES.map(({ subscription, isLost, reports }) => {
      const { state, lastError } = statusOf(subscription, { reports, isLost, now: NOW });
      return {
        id: subscription.id,
        paused: subscription.paused ?? false,
        state,
        ...(lastError && { last_error: lastError.message, last_error_at: iso(lastError.at) }),
      };
    });
    const shown = (found as Record<string, string>[]).map((row) => ({
      ...row,
      ...(row["last_error_at"] && { last_error_at: iso(Date.parse(row["last_error_at"])) }),
    }));
    expect(shown).toEqual(wanted);
    const states = new Set(wanted.map(({ state }) => state));
    expect(states.size).toBe(5);
    for (const error of [LOST, GONE]) {
      expect(wanted.some(({ last_error }) => last_error === error)).toBe(true);
    }
  });

  test("partitions are those of the admin API, with what sidecar reads each", async () => {
    const found = await rows(`SELECT subscription_id, topic, partition, position, end_offset, lag,
      stopped_by, stopped_message FROM sys_subscription_partition
      ORDER BY subscription_id, topic, partition`);
    const wanted = CASES.flatMap(({ subscription, isLost, reports }) => {
      const { partitions } = statusOf(subscription, { reports, isLost, now: NOW });
      return partitions.map((one) => ({
        subscription_id: subscription.id,
        topic: one.topic,
        partition: one.partition,
        position: one.position,
        end_offset: one.end,
        lag: lagOf(one),
        stopped_by: one.stoppedBy?.kind,
        stopped_message: one.stoppedBy?.message,
      }));
    });
    expect(found).toEqual(JSON.parse(JSON.stringify(wanted)));
    const [lagging] = await rows(
      "SELECT count(*) AS n FROM sys_subscription_partition WHERE lag > 5 AND sidecar LIKE 'm%'",
    ) as { n: number }[];
    expect(lagging!.n).toBeGreaterThan(10);
  });
});
