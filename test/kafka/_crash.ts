import { setTimeout as sleep } from "node:timers/promises";
import process from "node:process";
import kafkajs, { type Message } from "kafkajs";
import { expect } from "vitest";
import { until } from "../support/child.ts";
import type { Facts } from "./_facts.ts";
import { eventually } from "./_sidecar.ts";

/** `KAFKA_CRASH_SEED=<what a failure printed>` kills in the same order. */
export const SEED = Number(process.env["KAFKA_CRASH_SEED"] ?? Date.now() % 100_000);

/** `KAFKA_CRASH_RECORDS=20000` kills for a minute. */
export function recordsOr(few: number): number {
  return Number(process.env["KAFKA_CRASH_RECORDS"] ?? few);
}

/** A run of 20,000 records takes minutes where other programs run, and 4,000 a quarter of one. */
export const CRASH_MS = 600_000;
/** On a busy machine a broker takes ten seconds to start, and may be killed as soon as it answers. */
const WRITE_MS = 120_000;
const PARTITIONS = 4;
const CHUNK = 40;
const KEYS = 48;
/** Keys of the counters that services and workflows add to, as `services_kafka.mjs` has them. */
const SPREAD = 50;

const SINKS = { objects: "Counter/add", services: "Relay/pass", workflows: "Once/run" } as const;
type Kind = keyof typeof SINKS;
const KINDS: readonly Kind[] = ["objects", "services", "workflows"];

interface Counter {
  readonly count: number;
  readonly disordered: number;
}

export interface CrashOptions {
  readonly records: number;
  readonly recordsASecond: number;
  /** Each of them is killed now and then: kills it, and starts it again after a while. */
  readonly victims: Readonly<Record<string, (downMs: number) => Promise<void>>>;
}

/** The same numbers for the same seed. */
function chance(seed: number): () => number {
  let state = seed + 1;
  return () => (state = state * 48_271 % 2_147_483_647) / 2_147_483_647;
}

/**
 * Kills processes at random while records come into objects, services and workflows. Fails unless each
 * record was done once, and those of a key in their order.
 */
export async function crash(on: Facts, options: CrashOptions): Promise<void> {
  const settings = { "session.timeout.ms": "2000", "heartbeat.interval.ms": "500" };
  const topics = {} as Record<Kind, string>;
  for (const kind of KINDS) {
    topics[kind] = await on.topic([], { partitions: PARTITIONS });
    await on.subscribe(topics[kind], SINKS[kind], { options: settings });
  }
  const written: Record<Kind, number[]> = { objects: [], services: [], workflows: [] };
  let isWritten = false;
  const [kills] = await Promise.all([
    kill(options, () => isWritten),
    produce(on, options, { topics, written }).finally(() => isWritten = true),
  ]);
  const lengths = KINDS.map((kind) => `${kind}: ${written[kind].length}`);
  console.log(`killed ${JSON.stringify(kills)}, wrote ${lengths.join(", ")}`);
  await check(on, expectedOf(written));
}

/** How often each counter has to be. */
function expectedOf(written: Readonly<Record<Kind, readonly number[]>>): Map<string, number> {
  const expected = new Map<string, number>();
  const add = (key: string) => expected.set(key, (expected.get(key) ?? 0) + 1);
  for (const n of written.objects) add(`objects-${n % KEYS}`);
  for (const n of written.services) add(`service-${n % SPREAD}`);
  for (const n of written.workflows) add(`workflow-${n % SPREAD}`);
  return expected;
}

async function check(on: Facts, expected: ReadonlyMap<string, number>): Promise<void> {
  const sum = (counts: Iterable<number>) => [...counts].reduce((all, one) => all + one, 0);
  await expect.poll(
    async () => sum([...(await counters(on)).values()].map(({ count }) => count)),
    { timeout: 180_000, interval: 500 },
  ).toBeGreaterThanOrEqual(sum(expected.values()));
  // What came twice would still be under way.
  const open = "SELECT count(1) AS n FROM sys_invocation WHERE status <> 'completed'";
  // A process that was killed last may not serve its partitions yet.
  const left = async () => (await on.sql(open).catch(() => []))[0]?.["n"];
  await eventually("the end", async () => await left() === 0);
  const found = await counters(on);
  const counts = new Map([...found].map(([key, { count }]) => [key, count]));
  expect(Object.fromEntries([...counts].toSorted())).toEqual(
    Object.fromEntries([...expected].toSorted()),
  );
  const disordered = [...found].filter(([key, one]) =>
    key.startsWith("objects") && one.disordered > 0
  );
  expect(disordered).toEqual([]);
}

async function counters(on: Facts): Promise<Map<string, Counter>> {
  const query = "SELECT service_key, value_utf8 FROM state WHERE service_name = 'Counter'";
  const rows = await on.sql(query).catch(() => []);
  return new Map(rows.map((row) => [
    String(row["service_key"]),
    JSON.parse(String(row["value_utf8"])) as Counter,
  ]));
}

/** Ends one of them after the other, each as often, until there is nothing more to write. */
async function kill(
  { victims }: CrashOptions,
  isOver: () => boolean,
): Promise<Record<string, number>> {
  const random = chance(SEED);
  let names: string[] = [];
  const kills: Record<string, number> = {};
  while (!isOver()) {
    await sleep(300 + random() * 1_500);
    if (names.length === 0) names = Object.keys(victims);
    const [name = ""] = names.splice(Math.floor(random() * names.length), 1);
    kills[name] = (kills[name] ?? 0) + 1;
    await victims[name]?.(random() * 800);
  }
  return kills;
}

interface Production {
  readonly topics: Readonly<Record<Kind, string>>;
  readonly written: Readonly<Record<Kind, number[]>>;
}

async function produce(
  on: Facts,
  { records, recordsASecond }: CrashOptions,
  { topics, written }: Production,
): Promise<void> {
  const began = Date.now();
  let total = 0;
  for (let first = 0; total < records; first += CHUNK) {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      for (const kind of KINDS) {
        const messages = chunkOf(kind, partition, first);
        await write(on, topics[kind], partition, messages);
        written[kind].push(...messages.map(({ value }) => Number(value)));
        total += CHUNK;
      }
    }
    await sleep(Math.max(0, began + total / recordsASecond * 1000 - Date.now()));
  }
}

/** Numbers n of a partition: n % 4 is the partition, and the keys of objects are of one partition. */
function chunkOf(kind: Kind, partition: number, first: number): Message[] {
  return Array.from({ length: CHUNK }, (_, index) => {
    const n = (first + index) * PARTITIONS + partition;
    const key = kind === "workflows" ? `w${n}` : `${kind}-${n % KEYS}`;
    return { partition, key, value: String(n) };
  });
}

/**
 * A chunk is one batch of one partition: it is written or not. Where the broker was killed meanwhile,
 * the end of the partition says which.
 */
async function write(
  on: Facts,
  topic: string,
  partition: number,
  messages: Message[],
): Promise<void> {
  const endOf = async () => {
    const admin = on.broker.client().admin();
    const offsets = await admin.fetchTopicOffsets(topic).finally(() => admin.disconnect());
    return Number(offsets.find((one) => one.partition === partition)?.high);
  };
  let before: number | undefined;
  await until("a chunk to be written", async () => {
    try {
      before ??= await endOf();
      if (await endOf() > before) return true;
      const producer = on.broker.client().producer({
        retry: { retries: 0 },
        createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      });
      await producer.connect();
      await producer.send({ topic, messages }).finally(() => producer.disconnect());
      return true;
    } catch {
      await sleep(100);
      return false;
    }
  }, WRITE_MS);
}
