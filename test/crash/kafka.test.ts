import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Broker, brokerTools, startBroker } from "../kafka/broker/broker.ts";
import { Topics } from "../kafka/_topics.ts";
import { until } from "../support/child.ts";
import { manage, query, register, value } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";

/** `KAFKA_ROUNDS=30 KAFKA_RECORDS=20000` is the long form. */
const ROUNDS = Number(process.env["KAFKA_ROUNDS"] ?? 6);
const RECORDS = Number(process.env["KAFKA_RECORDS"] ?? 1_200);
const KEYS = 20;
const SETTLE_MS = 90_000;
const TEST_MS = 60_000 + 10_000 * ROUNDS + 10 * RECORDS + SETTLE_MS;

const tools = await brokerTools();

/** Everything that a crash may hit. */
interface Stage {
  readonly broker: Broker;
  readonly server: Server;
  readonly endpoint: Endpoint;
  readonly topics: Topics;
}

/** Processes that were started as sidecars, the last one last. */
function sidecars({ server }: Stage): number[] {
  const found = server.logs().matchAll(/"The Kafka sidecar is started","pid":(\d+)/g);
  return [...found].map(([, pid]) => Number(pid));
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

const CRASHES: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  server: async ({ server }) => {
    const { pid = 0 } = server;
    server.signal("SIGKILL");
    // The sidecar lives on, and keeps the output of the server open: the end is not waited for.
    await until("the server to be gone", () => !isAlive(pid));
    await server.start();
  },
  sidecar: async (stage) => void sidecars(stage).forEach(kill),
  broker: async ({ broker }) => {
    await broker.stop("SIGKILL");
    await broker.start();
  },
};

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** How many records have become invocations. */
async function taken(server: Server): Promise<number> {
  const sql = "select count(*) as n from sys_invocation where invoked_by = 'subscription'";
  return Number((await query(server, sql))[0]?.["n"]);
}

/** How many records came again since the server was started last. */
async function replays(server: Server): Promise<number> {
  const page = await (await fetch(`${server.admin}/metrics`)).text();
  return [...page.matchAll(/^perdure_kafka_ingress_replays_total\{.*\} (\d+)$/gm)]
    .reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Words of key `k3` in the order of the topic: `"0"`, `"1"`, … */
function slice(from: number, to: number) {
  return Array.from({ length: to - from }, (_, i) => {
    const number = from + i;
    const [key, word] = [`k${number % KEYS}`, JSON.stringify(`${Math.floor(number / KEYS)}`)];
    return { key, value: word };
  });
}

describe.skipIf(tools === undefined)("records of Kafka", () => {
  let stage: Stage;
  beforeAll(async () => {
    const broker = await startBroker(tools ?? "");
    const topics = new Topics(broker.client());
    const [server, endpoint] = await Promise.all([
      startServer({ runtime: "node", settings: { KAFKA__SIDECAR: "auto" } }),
      startEndpoint("h2"),
    ]);
    stage = { broker, server, endpoint, topics };
    await register(server, endpoint);
  }, TEST_MS);
  afterAll(async () => {
    if (!stage) return;
    sidecars(stage).forEach(kill);
    await stage.topics.close();
    await Promise.all([stage.server.close(), stage.endpoint.close(), stage.broker.close()]);
  }, TEST_MS);

  async function subscribe(topic: string, handler: string): Promise<string> {
    const answer = await manage(stage.server, "POST /subscriptions", {
      source: `kafka://c/${topic}`,
      sink: `service://${handler}`,
      options: { "auto.offset.reset": "earliest", "session.timeout.ms": "3000" },
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return (answer.body as { readonly id: string }).id;
  }

  /** Every record has been handled once, and those of a key in their order. */
  async function mustHaveAll(greeted: string): Promise<void> {
    const { server } = stage;
    const perKey = (key: number) => slice(0, RECORDS).filter((one) => one.key === `k${key}`).length;
    for (let key = 0; key < KEYS; key++) {
      const wanted = Array.from({ length: perKey(key) }, (_, i) => String(i));
      await expect.poll(
        async () => await value(server, `Counter/k${key}/words`).catch(String),
        { timeout: SETTLE_MS, interval: 200 },
      ).toEqual(wanted);
    }
    const sql = `select count(*) as n from sys_invocation
      where invoked_by_subscription_id = '${greeted}' and status = 'completed'`;
    await expect.poll(async () => (await query(server, sql))[0]?.["n"], {
      timeout: SETTLE_MS,
      interval: 200,
    }).toBe(RECORDS);
  }

  test("are neither lost nor doubled, and keep their order, whatever is killed", async () => {
    const { server, broker, topics } = stage;
    await topics.create("words", 3);
    await topics.create("greetings", 2);
    const properties = { "bootstrap.servers": broker.address };
    await manage(server, "POST /kafka-clusters", { name: "c", properties });
    await subscribe("words", "Counter/append");
    const greeted = await subscribe("greetings", "Greeter/greet");
    const each = Math.ceil(RECORDS / ROUNDS);
    const names = Object.keys(CRASHES);
    let hasReplayed = false;
    for (let round = 0; round < ROUNDS; round++) {
      const records = slice(round * each, Math.min(RECORDS, (round + 1) * each));
      await topics.send("words", ...records);
      await topics.send("greetings", ...records.map(({ value }) => ({ value })));
      // Some of them are durable here, and mostly not committed to the broker yet.
      await until(
        "records of this round",
        async () => await taken(server) > round * 2 * each,
        30_000,
      );
      hasReplayed ||= await replays(server) > 0;
      // All kinds take their turn, so that even the short form has each of them.
      await CRASHES[names[round % names.length]!]!(stage);
    }
    await mustHaveAll(greeted);
    // Otherwise nothing was seen of how the server deals with records that come again.
    expect(hasReplayed || await replays(server) > 0).toBe(true);
  }, TEST_MS);
});
