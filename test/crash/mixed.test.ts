import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { until } from "../support/child.ts";
import { register } from "../support/client.ts";
import { type Endpoint, startEndpoint, type Transport } from "../support/endpoint.ts";
import { type RuntimeName, type Server, startServer } from "../support/server.ts";
import { clients } from "./_clients.ts";
import { attach, callOnce } from "./_retry.ts";
import { Load } from "./_load.ts";
import { Notes } from "./_notes.ts";
import { scenarios } from "./_scenarios.ts";

// CRASH_RUNTIME=deno, CRASH_TRANSPORT=h1, CRASH_ROUNDS=20 (the long form),
// CRASH_SEED=<what a failure printed>, CRASH_ONLY=<scenario>
const { env } = process;
const runtime: RuntimeName = env["CRASH_RUNTIME"] === "deno" ? "deno" : "node";
const transport: Transport = env["CRASH_TRANSPORT"] === "h1" ? "h1" : "h2";
const seed = Number(env["CRASH_SEED"] ?? Math.floor(Math.random() * 1e9));
const rounds = Number(env["CRASH_ROUNDS"] ?? 10);
const SERVICES = path.join(import.meta.dirname, "services_mixed.mjs");
const CLIENTS = 16;
const ALIVE_MS_MAX = 700;

let server: Server, endpoint: Endpoint;

afterEach(async ({ task }) => {
  if (task.result?.state === "fail") {
    console.error(`CRASH_SEED=${seed}\n${server?.logs().slice(-3000)}\n${endpoint?.logs()}`);
  }
  await Promise.all([server?.close(), endpoint?.close()]);
});

/** mulberry32: what is drawn repeats with the seed; what the machine makes of it does not. */
function chanceFrom(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Delayed sends may still be on their way; what is too much never becomes right. */
async function checkSums(owed: ReadonlyMap<string, number>): Promise<void> {
  for (const [counter, sum] of owed) {
    const count = async () => {
      const ask = { body: 0, key: `final-${Math.random()}` };
      return Number((await callOnce(server, `Sum/${counter}/add`, ask)).body);
    };
    await until(counter, async () => await count() >= sum).catch(() => {});
    expect(await count(), counter).toBe(sum);
  }
}

test.each([
  { rounds, settings: {} },
  // Most of what handlers say to each other is for another partition then.
  { rounds: Math.ceil(rounds / 2), settings: { DEFAULT_NUM_PARTITIONS: "3" } },
  {
    rounds: Math.ceil(rounds / 4),
    settings: { DEFAULT_NUM_PARTITIONS: "4", STORAGE__DATABASES: "each" },
  },
])("kill -9 $rounds times under a mixed load, $settings: all of it is done, once", async (
  { rounds, settings },
) => {
  [server, endpoint] = await Promise.all([
    startServer({ runtime, settings }),
    startEndpoint(transport, SERVICES),
  ]);
  expect((await register(server, endpoint)).status).toBe(201);
  const chance = chanceFrom(seed);
  const load = new Load(server, new Notes(path.join(endpoint.folder, "log")), chance);
  let isOver = false;
  const only = env["CRASH_ONLY"]?.split(",");
  const options = { scenarios, only, count: CLIENTS, isOver: () => isOver };
  const all = clients(load, options).finally(() => (isOver = true));
  const crashes = async () => {
    for (let round = 0; round < rounds && !isOver; round++) {
      await sleep(chance() * ALIVE_MS_MAX);
      await server.crash();
    }
    isOver = true;
  };
  // Whatever fails, nothing starts a server behind the back of those who clean up.
  await Promise.allSettled([all, crashes()]);
  const done = await all;
  console.log(`CRASH_SEED=${seed}`, done);
  await checkSums(load.owed());
  await server.crash();
  await checkSums(load.owed());
  for (const { target, status, body } of load.settled) {
    const again = await attach(server, target);
    expect([again.status, again.body], JSON.stringify(target)).toEqual([status, body]);
  }
}, 60_000);
