import fc from "fast-check";
import { expect, test } from "vitest";
import { Schema } from "../../src/model/schema.ts";
import { ByHandler } from "../../src/observe/by_handler.ts";
import { DURATION_HANDLERS_MAX } from "../../src/observe/durations.ts";
import { Exposition } from "../../src/observe/exposition.ts";
import { Histogram } from "../../src/observe/histogram.ts";
import { Meter } from "../../src/observe/meter.ts";
import { METRICS } from "../../src/observe/metric_table.ts";
import { metricsText } from "../../src/observe/metrics.ts";
import { STATUSES } from "../../src/observe/status_counts.ts";
import { schema } from "../support/schema.ts";
import { parseMetrics, valueOf } from "./_parse.ts";

test("whatever is in a label is read back as it was", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.double({ noNaN: true }), (text, value) => {
      const page = new Exposition({ perdure_x: { type: "gauge", labels: ["text"], help: "x" } })
        .family("perdure_x");
      page.sample(value, { text });
      const [sample] = parseMetrics(page.toString()).get("perdure_x")?.samples ?? [];
      expect(sample?.labels).toEqual({ text });
      expect(sample?.value).toBe(value === 0 ? 0 : value);
    }),
  );
});

test("a histogram counts each value in every bucket that holds it", () => {
  fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 40 })), (values) => {
    const histogram = new Histogram([1, 5, 20]);
    for (const value of values) histogram.add(value);
    const page = new Exposition({ perdure_x: { type: "histogram", labels: [], help: "x" } })
      .family("perdure_x").histogram(histogram);
    const families = parseMetrics(page.toString());
    for (const [le, bound] of [["1", 1], ["5", 5], ["20", 20], ["+Inf", Infinity]] as const) {
      const within = values.filter((value) => value <= bound).length;
      expect(valueOf(families, "perdure_x", { le })).toBe(within);
    }
    const sum = families.get("perdure_x")?.samples.find(({ name }) => name.endsWith("_sum"));
    expect(sum?.value).toBe(values.reduce((a, b) => a + b, 0));
  }));
});

const sources = { version: "1.2.3", schema, waitingRequests: 3 };
const gauges = {
  mailboxEvents: 1,
  residentBytes: 2,
  timers: 3,
  running: 4,
  queued: 5,
  logRows: 6,
  logBytes: 7,
};

const hi = { service: "greeter", handler: "hi" };

const target = { ...hi, type: "service", access: "none" } as const;

/** A page with samples of every metric. */
const PLACE = { subscription: "sub_1", topic: "orders", partition: 2 };
const KAFKA = [
  [{ id: PLACE.subscription }, {
    state: "blocked",
    partitions: [{ topic: PLACE.topic, partition: PLACE.partition, position: 3, end: 9 }],
  }],
] as const;

function fullPage(): string {
  const meter = new Meter();
  meter.turn(0.3, 4);
  meter.committed(12, 100);
  meter.attemptFailed(hi, "RT0010");
  meter.started.add(hi, 0, 2);
  meter.durations.completed({ target: hi, createdAt: 1_000, completedAt: 8_000 });
  meter.invocationWaited(target, undefined, { lock: 1500 });
  meter.invocationWaited(target, { lock: 1500 }, { lock: 1500, rate: 500 });
  meter.requests.ingress.add("call", 200);
  meter.ingested.add(PLACE, { taken: 3, replays: 2, poison: 1, full: 0 });
  meter.ingested.addCommitFailures(PLACE.subscription, 2);
  meter.ingested.addCommitFailures(PLACE.subscription, 3);
  meter.ingested.add(PLACE, { taken: 4, replays: 0, poison: 0, full: 1 });
  const invocations = new ByHandler(STATUSES.length);
  invocations.add(hi, STATUSES.findIndex(([kind]) => kind === "completed"), 5);
  const connections = { connecting: 0, fresh: 1, http1: 2, http2: 3, closing: 4 };
  const traffic = { interface: "ingress", connections, streams: 5, queuedBytes: 6 };
  const vitals = {
    startedAt: 5_000,
    cpuMs: 2_500,
    residentBytes: 9,
    heapBytes: 8,
    threads: 7,
    traffic: [traffic],
    databases: [{ name: "perdure.db", bytes: 4096, walBytes: 512 }],
    descriptors: { open: 40, max: Infinity },
  };
  const spans = { exported: 1, dropped: 2 };
  const members = [{ id: "a", address: "http://a", partitions: [0, 1] }];
  const rest = { partition: gauges, members, spans, vitals, subscriptions: KAFKA };
  return metricsText({ ...sources, meter, invocations, ...rest });
}

test("the page is valid with nothing to say, and with everything", () => {
  const bare = parseMetrics(metricsText({ ...sources, meter: new Meter() }));
  expect(valueOf(bare, "perdure_partition_up")).toBe(0);
  const families = parseMetrics(fullPage());
  const value = (name: string, labels = {}) => valueOf(families, `perdure_${name}`, labels);
  expect(value("build_info", { version: "1.2.3" })).toBe(1);
  expect(value("invocations", { ...hi, status: "completed" })).toBe(5);
  expect(value("invocations", { ...hi, status: "backing-off" })).toBe(0);
  expect(value("attempts_started_total", hi)).toBe(2);
  expect(value("attempts_failed_total", { ...hi, code: "RT0010" })).toBe(1);
  expect(value("commit_duration_seconds", { le: "0.01" })).toBe(0);
  expect(value("commit_duration_seconds", { le: "0.025" })).toBe(1);
  expect(value("process_cpu_seconds_total")).toBe(2.5);
  expect(value("log_pending_bytes")).toBe(7);
  expect([value("process_open_fds"), value("process_max_fds")]).toEqual([40, Infinity]);
  expect(value("process_threads")).toBe(7);
  expect(value("connections", { interface: "ingress", state: "http2" })).toBe(3);
  expect([value("http2_streams"), value("queued_bytes")]).toEqual([5, 6]);
  expect(value("fleet_partitions", { address: "http://a" })).toBe(2);
  expect(value("waiting_requests")).toBe(3);
  expect(value("invocation_duration_seconds", { ...hi, le: "5" })).toBe(0);
  expect(value("invocation_duration_seconds", { ...hi, le: "10" })).toBe(1);
  expect(value("requests_total", { interface: "ingress", route: "call", status: "200" })).toBe(1);
  expect(value("invocation_waited_seconds_total", { ...hi, cause: "lock" })).toBe(1.5);
  expect(value("invocation_waited_seconds_total", { ...hi, cause: "rate" })).toBe(0.5);
  expect(value("paused", { kind: "service" })).toBe(0);
  const database = { database: "perdure.db" };
  expect(value("database_bytes", database)).toBe(4096);
  expect(value("database_wal_bytes", database)).toBe(512);
});

test("what is paused is counted by kind", () => {
  const controls = {
    ...schema.controls,
    services: new Map([["a", { paused: true as const }], ["b", { limits: { concurrency: 1 } }]]),
    pausedQueues: new Set(["vq_1a", "vq_1b"]),
  };
  const paused = new Schema([], schema.defaults, controls);
  const families = parseMetrics(metricsText({ ...sources, schema: paused, meter: new Meter() }));
  const count = (kind: string) => valueOf(families, "perdure_paused", { kind });
  expect([count("service"), count("deployment"), count("queue")]).toEqual([1, 0, 2]);
});

test("durations are since an invocation was due, and never negative", () => {
  const meter = new Meter();
  // Due after an hour of delay, and one canceled before that.
  for (const completedAt of [3_600_020, 1_000]) {
    meter.durations.completed({ target: hi, createdAt: 0, scheduledAt: 3_600_000, completedAt });
  }
  const families = parseMetrics(metricsText({ ...sources, meter }));
  const name = "perdure_invocation_duration_seconds";
  expect(valueOf(families, name, { ...hi, le: "0.01" })).toBe(1);
  expect(valueOf(families, name, { ...hi, le: "0.05" })).toBe(2);
});

test("handlers beyond the limit share a histogram, and those that are gone have one", () => {
  const meter = new Meter();
  const add = (service: string) =>
    meter.durations.completed({
      target: { service, handler: "x" },
      createdAt: 0,
      completedAt: 1,
    });
  for (let i = 0; i < DURATION_HANDLERS_MAX + 50; i++) add(`service${i}`);
  add("service0");
  const families = parseMetrics(metricsText({ ...sources, meter }));
  const counts = families.get("perdure_invocation_duration_seconds")?.samples
    .filter(({ name }) => name.endsWith("_count"))
    .map(({ labels, value }) => [labels["service"], value]);
  expect(counts).toEqual([["unregistered", DURATION_HANDLERS_MAX + 1], ["other", 50]]);
});

test("a page says how far subscriptions are", () => {
  const families = parseMetrics(fullPage());
  const value = (name: string, labels = {}) => valueOf(families, `perdure_kafka_${name}`, labels);
  const place = { ...PLACE, partition: "2" };
  const counts = ["requests", "replays", "poison", "full"].map((one) =>
    value(`ingress_${one}_total`, place)
  );
  expect(counts).toEqual([7, 2, 1, 1]);
  expect(value("commit_failures_total", { subscription: PLACE.subscription })).toBe(5);
  expect(value("subscription_state", { subscription: "sub_1", state: "blocked" })).toBe(1);
  expect(["position", "end", "lag"].map((one) => value(one, place))).toEqual([3, 9, 6]);
});

test("every metric of the table is on the page, in its order and with its labels", () => {
  const families = parseMetrics(fullPage());
  expect([...families.keys()]).toEqual(Object.keys(METRICS));
  for (const [name, { labels }] of Object.entries(METRICS)) {
    const samples = families.get(name)?.samples ?? [];
    const seen = samples.flatMap((sample) => Object.keys(sample.labels))
      .filter((label) => label !== "le");
    expect([...new Set(seen)], name).toEqual(labels);
  }
});

test("handlers that are not registered any more have one label", () => {
  const meter = new Meter();
  for (let i = 0; i < 1000; i++) meter.started.add({ service: `gone${i}`, handler: "x" }, 0, 1);
  const bare = new Schema([], schema.defaults);
  const families = parseMetrics(metricsText({ ...sources, meter, schema: bare }));
  expect(families.get("perdure_attempts_started_total")?.samples).toEqual([{
    name: "perdure_attempts_started_total",
    labels: { service: "unregistered", handler: "unregistered" },
    value: 1000,
  }]);
});
