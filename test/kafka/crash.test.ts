import { setTimeout as sleep } from "node:timers/promises";
import process from "node:process";
import kafkajs, { type Message } from "kafkajs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { TOKEN } from "./_fake_server.ts";
import { Facts } from "./_facts.ts";
import { eventually, SidecarProcess } from "./_sidecar.ts";

const jars = await brokerTools();
/** `KAFKA_CRASH_RECORDS=20000` kills for a minute. */
const RECORDS = Number(process.env["KAFKA_CRASH_RECORDS"] ?? 4_000);
const RECORDS_A_SECOND = 330;
const PARTITIONS = 4;
const CHUNK = 40;
const KEYS = 48;
const SEED = Number(process.env["KAFKA_CRASH_SEED"] ?? Date.now() % 100_000);

const SINKS = { objects: "Counter/add", services: "Relay/pass", workflows: "Once/run" } as const;
type Kind = keyof typeof SINKS;
const KINDS: readonly Kind[] = ["objects", "services", "workflows"];

interface Counter {
  readonly count: number;
  readonly disordered: number;
}

/** The same numbers for the same seed. */
function chance(seed: number): () => number {
  let state = seed + 1;
  return () => (state = state * 48_271 % 2_147_483_647) / 2_147_483_647;
}

describe.skipIf(jars === undefined)(`killed at random, seed ${SEED}`, () => {
  const on = new Facts("perdure");
  const written: Record<Kind, number[]> = { objects: [], services: [], workflows: [] };
  beforeAll(() => on.start(jars!), 120_000);
  afterAll(() => on.close());

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
  async function write(topic: string, partition: number, messages: Message[]): Promise<void> {
    const endOf = async () => {
      const admin = on.broker.client().admin();
      const offsets = await admin.fetchTopicOffsets(topic).finally(() => admin.disconnect());
      return Number(offsets.find((one) => one.partition === partition)?.high);
    };
    let before: number | undefined;
    await eventually("a chunk to be written", async () => {
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
    });
  }

  async function produce(topics: Record<Kind, string>): Promise<void> {
    const began = Date.now();
    let total = 0;
    for (let first = 0; total < RECORDS; first += CHUNK) {
      for (let partition = 0; partition < PARTITIONS; partition++) {
        for (const kind of KINDS) {
          const messages = chunkOf(kind, partition, first);
          await write(topics[kind], partition, messages);
          written[kind].push(...messages.map(({ value }) => Number(value)));
          total += CHUNK;
        }
      }
      await sleep(Math.max(0, began + total / RECORDS_A_SECOND * 1000 - Date.now()));
    }
  }

  /** Ends one of the three after the other, until there is nothing more to write. */
  async function kill(isOver: () => boolean): Promise<Record<string, number>> {
    const random = chance(SEED);
    const kills = { server: 0, sidecar: 0, broker: 0 };
    const restart = {
      server: async (downMs: number) => {
        await on.target.stop("SIGKILL");
        await sleep(downMs);
        await on.target.start();
      },
      sidecar: async (downMs: number) => {
        await on.sidecar?.stop("SIGKILL");
        await sleep(downMs);
        on.sidecar = new SidecarProcess({ url: on.target.admin, token: TOKEN });
      },
      broker: async (downMs: number) => {
        await on.broker.stop("SIGKILL");
        await sleep(downMs);
        await on.broker.start();
      },
    };
    const names = ["server", "sidecar", "broker"] as const;
    while (!isOver()) {
      await sleep(300 + random() * 1_500);
      const name = names[Math.floor(random() * names.length)]!;
      kills[name]++;
      await restart[name](random() * 800);
    }
    return kills;
  }

  async function counters(): Promise<Map<string, Counter>> {
    const rows = await on.sql(
      "SELECT service_key, value_utf8 FROM state WHERE service_name = 'Counter'",
    )
      .catch(() => []);
    return new Map(rows.map((row) => [
      String(row["service_key"]),
      JSON.parse(String(row["value_utf8"])) as Counter,
    ]));
  }

  test("server, sidecar and broker lose no record, and do none twice or out of order", async () => {
    const options = { "session.timeout.ms": "2000", "heartbeat.interval.ms": "500" };
    const topics = {} as Record<Kind, string>;
    for (const kind of KINDS) {
      topics[kind] = await on.topic([], { partitions: PARTITIONS });
      await on.subscribe(topics[kind], SINKS[kind], { options });
    }
    let isWritten = false;
    const [kills] = await Promise.all([
      kill(() => isWritten),
      produce(topics).finally(() => isWritten = true),
    ]);
    console.log(`killed ${JSON.stringify(kills)}, wrote ${JSON.stringify(lengths(written))}`);

    const expected = new Map<string, number>();
    const expect1 = (key: string) => expected.set(key, (expected.get(key) ?? 0) + 1);
    for (const n of written.objects) expect1(`objects-${n % KEYS}`);
    for (const n of written.services) expect1(`service-${n % 50}`);
    for (const n of written.workflows) expect1(`workflow-${n % 50}`);
    const sum = (counts: Iterable<number>) => [...counts].reduce((all, one) => all + one, 0);
    await expect.poll(
      async () => sum([...(await counters()).values()].map(({ count }) => count)),
      { timeout: 120_000, interval: 500 },
    ).toBeGreaterThanOrEqual(sum(expected.values()));
    // What came twice would still be under way.
    const open = "SELECT count(1) AS n FROM sys_invocation WHERE status <> 'completed'";
    await eventually("the end", async () => (await on.sql(open))[0]?.["n"] === 0);
    const found = await counters();
    const counts = new Map([...found].map(([key, { count }]) => [key, count]));
    expect(Object.fromEntries([...counts].toSorted())).toEqual(
      Object.fromEntries([...expected].toSorted()),
    );
    const disordered = [...found].filter(([key, one]) =>
      key.startsWith("objects") && one.disordered > 0
    );
    expect(disordered).toEqual([]);
  }, 300_000);
});

const lengths = (written: Record<Kind, number[]>) =>
  Object.fromEntries(Object.entries(written).map(([kind, { length }]) => [kind, length]));
