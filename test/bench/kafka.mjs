// Records of one broker into a handler, by this server and the reference server, one after the other.
//
//   npm run build && node test/bench/kafka.mjs [--records 100000] [--rounds 3] [--solo]
//     [--only ingest,latency,idle,recover]
//
// `ingest`: all records are written before the subscription is made; how fast the server takes them
// into its log, how fast the handler has them, and CPU time for each of all processes, until the
// handler has them all and the server has rested for a while. `latency`: 20 records a second, from the
// producer's clock to the handler. `idle`: 40 subscriptions without records. `recover`: 40 subscriptions
// have a record each, written while the server is down after kill -9: milliseconds from its return until
// a handler has had all of them; the same from kill -9 of the sidecar on. The sidecar counts as part
// of our server, and is shown as well. Needs Java 17 for the broker.
import { spawn } from "node:child_process";
import http2 from "node:http2";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Kafka, logLevel } from "kafkajs";
import { median } from "./_compare.mjs";
import * as targets from "./semantics_targets.mjs";
import { until } from "./_process.mjs";

const { values: options } = parseArgs({
  options: {
    records: { type: "string", default: "100000" },
    rounds: { type: "string", default: "3" },
    only: { type: "string", default: "ingest,latency,idle,recover" },
    solo: { type: "boolean", default: false },
  },
});
const recordsCount = Number(options.records), rounds = Number(options.rounds);
const wanted = options.only.split(",");
// With the default, ingestion waits for the handler after 10,000 records. The reference has no limit.
process.env.SVC_WORKER__KAFKA_INBOX_LIMIT ??= String(2 * recordsCount);
const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "../..");

async function startBroker() {
  const args = ["deno", "run", "-A", "test/kafka/broker/start.ts"];
  const stdio = ["ignore", "pipe", "ignore"];
  const child = spawn("npx", args, { cwd: root, stdio, detached: true });
  // With its descendants, of which the broker is one.
  process.on("exit", () => process.kill(-child.pid, "SIGTERM"));
  let said = "";
  child.stdout.on("data", (chunk) => void (said += chunk));
  const address = () => /plain (\S+),/.exec(said)?.[1];
  await until("the broker", async () => address() !== undefined, 600_000);
  return { pid: child.pid, address: address() };
}

const { address: broker, ...brokerProcess } = await startBroker();
const client = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING });
const [admin, producer] = [client.admin(), client.producer({ idempotent: false })];
await Promise.all([admin.connect(), producer.connect()]);

async function post(target, route, body) {
  const answer = await fetch(`${target.admin}${route}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${route}: ${answer.status} ${await answer.text()}`);
  return await answer.json();
}

/** A topic of one partition. */
async function newTopic(name) {
  await admin.createTopics({ waitForLeaders: true, topics: [{ topic: name, numPartitions: 1 }] });
}

async function fill(topic, count) {
  const messages = (from, to) =>
    Array.from({ length: to - from }, (_, i) => {
      const value = JSON.stringify({ order: from + i, text: "x".repeat(64) });
      return { key: `key-${(from + i) % 1000}`, value };
    });
  for (let at = 0; at < count; at += 5000) {
    await producer.send({ topic, messages: messages(at, Math.min(count, at + 5000)) });
  }
}

function subscribe(target, topic) {
  const source = `kafka://bench/${topic}`, sink = "service://Sink/take";
  const options = { "auto.offset.reset": "earliest" };
  return post(target, "/subscriptions", { source, sink, options });
}

/** What the handler has seen, of both servers. */
async function taken() {
  const request = endpoint.request({ ":path": "/taken" });
  let text = "";
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}

/** Records that the server has made durable, by its metrics. */
async function ingested(target, subscription) {
  const text = await (await fetch(`${target.metrics}/metrics`)).text();
  return text.split("\n")
    .filter((line) => line.includes("kafka_ingress_requests_total{") && line.includes(subscription))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

/** Time for what a server does behind its answers, such as folds. */
const REST_MS = 1500;

/** Microseconds of CPU time so far, by process. `cpuUs`: of the server with its sidecar. */
function cpuOf(target) {
  return {
    cpuUs: targets.cpuUs(target),
    sidecarUs: targets.cpuUsOf(target, "kafka.mjs"),
    endpointUs: targets.endpointUs(),
    brokerUs: targets.cpuUsOf(brokerProcess, "java"),
  };
}

async function ingest(target, topic) {
  const before = (await taken()).taken, cpu = cpuOf(target);
  const began = performance.now();
  const { id } = await subscribe(target, topic);
  let ingestMs;
  for (;;) {
    await sleep(100);
    if (ingestMs === undefined && await ingested(target, id) >= recordsCount) {
      ingestMs = performance.now() - began;
    }
    if (ingestMs !== undefined && (await taken()).taken - before >= recordsCount) break;
  }
  const handledMs = performance.now() - began;
  await sleep(REST_MS);
  const spent = Object.entries(cpuOf(target))
    .map(([name, us]) => [name, (us - cpu[name]) / recordsCount]);
  await fetch(`${target.admin}/subscriptions/${id}`, { method: "DELETE" });
  const rate = (ms) => recordsCount / (ms / 1000);
  return {
    ingested: rate(ingestMs),
    handled: rate(handledMs),
    ...Object.fromEntries(spent),
    rss: targets.rssMiB(target),
    load: os.loadavg()[0],
  };
}

async function latency(target, topic, count = 300) {
  const { id } = await subscribe(target, topic);
  const send = () => producer.send({ topic, acks: 1, messages: [{ value: "{}" }] });
  await send();
  await until("the first record", async () => (await taken()).ages.length > 0);
  for (let i = 0; i < count; i++) await Promise.all([send(), sleep(50)]);
  await sleep(500);
  const ages = (await taken()).ages.toSorted((a, b) => a - b);
  await fetch(`${target.admin}/subscriptions/${id}`, { method: "DELETE" });
  const at = (part) => ages[Math.min(ages.length - 1, Math.floor(ages.length * part))];
  return { p50: at(0.5), p99: at(0.99), max: ages.at(-1) };
}

const IDLE_S = 20;

/** Subscriptions with a topic each. */
async function subscribeAll(target, name) {
  const [ids, topics] = [[], Array.from({ length: 40 }, (_, i) => `${name}-${i}`)];
  for (const topic of topics) {
    await newTopic(topic);
    ids.push((await subscribe(target, topic)).id);
  }
  return { ids, topics };
}

async function idle(target, name) {
  const { ids } = await subscribeAll(target, name);
  await sleep(10_000);
  const before = targets.cpuUs(target);
  await sleep(IDLE_S * 1000);
  const percent = (targets.cpuUs(target) - before) / (IDLE_S * 1e6) * 100;
  for (const id of ids) await fetch(`${target.admin}/subscriptions/${id}`, { method: "DELETE" });
  return { percent };
}

async function recover(target, name) {
  const { topics } = await subscribeAll(target, name);
  const send = () =>
    producer.sendBatch({
      topicMessages: topics.map((topic) => ({ topic, messages: [{ value: "{}" }] })),
    });
  let wanted = (await taken()).taken;
  const flow = async () => {
    wanted += topics.length;
    const flowed = async () => (await taken()).taken >= wanted;
    return await until("a record of each subscription", flowed);
  };
  await send();
  await flow();
  const sidecars = targets.pidsOf(target, "kafka.mjs");
  const { bootMs } = await target.crash(send);
  const serverMs = await flow();
  const began = performance.now();
  for (const pid of sidecars) process.kill(pid, "SIGKILL");
  await send();
  await flow();
  return { boot: bootMs, server: serverMs, sidecar: performance.now() - began };
}

const services = await targets.startServices("h2", "kafka_services.mjs");
const endpoint = http2.connect(services.uri);
const names = options.solo ? ["ours"] : ["ours", "reference"];
const all = [];
for (const name of names) {
  const target = await targets.startTarget(name, services);
  await post(target, "/kafka-clusters", {
    name: "bench",
    properties: { "bootstrap.servers": broker },
  });
  all.push(target);
}

// The last one leaves another process behind.
const WORK = { ingest, latency, idle, recover };
const isOnce = (kind) => kind === "idle" || kind === "recover";
for (const kind of Object.keys(WORK).filter((one) => wanted.includes(one))) {
  const figures = new Map(names.map((name) => [name, []]));
  for (let round = 0; round < (isOnce(kind) ? 1 : rounds); round++) {
    const topic = `${kind}-${round}`;
    if (!isOnce(kind)) await newTopic(topic);
    if (kind === "ingest") await fill(topic, recordsCount);
    for (const target of round % 2 ? all.toReversed() : all) {
      figures.get(target.name).push(
        await WORK[kind](target, `${topic}${isOnce(kind) ? target.name : ""}`),
      );
    }
  }
  const medians = Object.fromEntries(
    [...figures].map(([name, seen]) => [
      name,
      Object.fromEntries(
        Object.keys(seen[0]).map((key) => [key, median(seen.map((one) => one[key]))]),
      ),
    ]),
  );
  for (const [name, seen] of Object.entries(medians)) {
    const parts = Object.entries(seen).map(([key, value]) => `${key} ${value.toFixed(1)}`);
    console.log(`${kind.padEnd(8)} ${name}: ${parts.join(", ")}`);
  }
  if (!medians.reference) continue;
  const ratios = Object.keys(medians.ours)
    .map((key) => `${key} ${(medians.ours[key] / medians.reference[key]).toFixed(2)}x`);
  console.log(`${kind.padEnd(8)} ratio: ${ratios.join(", ")}`);
}
targets.stopAll();
process.exit(0);
