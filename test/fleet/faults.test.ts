import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { clients } from "../crash/_clients.ts";
import { attach, callOnce } from "../crash/_retry.ts";
import { Load } from "../crash/_load.ts";
import { Notes } from "../crash/_notes.ts";
import { type Scenario, scenarios } from "../crash/_scenarios.ts";
import { chance as chanceFrom } from "../storage/_lossy.ts";
import { until } from "../support/child.ts";
import { register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { sqldProgram } from "../support/sqld.ts";
import { LEASE_MS, type Member, TestFleet } from "./_fleet.ts";

// FLEET_SEED=<what a failure printed>, FLEET_MS=60000 FLEET_ONLY=<scenario,...> FLEET_FAULTS=kill,...
const { env } = process;
const seed = Number(env["FLEET_SEED"] ?? Math.floor(Math.random() * 1e9));
const loadMs = Number(env["FLEET_MS"] ?? 20_000);
const SERVICES = path.join(import.meta.dirname, "../crash/services_mixed.mjs");
const CLIENTS = 20;
const program = await sqldProgram();

let fleet: TestFleet | undefined, endpoint: Endpoint | undefined;

afterEach(async ({ task }) => {
  if (task.result?.state === "fail") console.error(`FLEET_SEED=${seed}\n${fleet?.logs()}`);
  await Promise.all([fleet?.close(), endpoint?.close()]);
});

/**
 * A process that wakes up may have a handler finish what another one has gone on from: its effects
 * are seen late, and count for nothing.
 */
class FleetLoad extends Load {
  override checkSteps(id: string, values: readonly unknown[]): void {
    const notes = this.notes.of(id).filter(({ name }) => name.startsWith("step-"));
    const names = [...new Set(notes.map(({ name }) => name))];
    expect(names.length, `${id}: every step was taken`).toBe(values.length);
    for (const value of values) {
      expect(notes.map((note) => note.value), `${id}: what was journaled`).toContain(value);
    }
  }
}

type Fault = (member: Member, chance: () => number) => Promise<void>;

const beyondLease = (chance: () => number) => sleep(LEASE_MS * (1.2 + chance()));

const faults: Readonly<Record<string, Fault>> = {
  async kill({ server }, chance) {
    await server.stop("SIGKILL");
    await sleep(chance() * 2 * LEASE_MS);
    await server.start();
  },
  async freeze({ server }, chance) {
    server.signal("SIGSTOP");
    await beyondLease(chance);
    server.signal("SIGCONT");
  },
  async cutOff({ distance }, chance) {
    distance.isCut = true;
    await beyondLease(chance);
    distance.isCut = false;
    // What was on the way is lost, and with it the sense of what follows.
    distance.reset();
  },
  async leave({ server }, chance) {
    await server.stop("SIGTERM");
    await sleep(chance() * 500);
    await server.start();
  },
};

/** Without a key of its own a call is made once at most, and once if it was answered. */
const plainCall: Scenario = async ({ server }, id) => {
  const url = `${server.ingress}/svc/call/Sum/${id}/add`;
  const headers = { "content-type": "application/json" };
  const status = await fetch(url, { method: "POST", headers, body: "1" }).then(
    (answer) => answer.arrayBuffer().then(() => answer.status),
    () => 0,
  );
  expect([200, 503, 0], id).toContain(status);
  const { body } = await callOnce(server, `Sum/${id}/add`, { body: 0, key: `${id}-count` });
  expect(status === 200 ? [1] : [0, 1], `${id}, answered ${status}`).toContain(body);
};

function never(): never {
  throw new Error("There is no fleet, process or fault");
}

/** One process after the other, of three, is made to fail. Answers how often each way. */
async function harm(
  { members }: TestFleet,
  chance: () => number,
  isOver: () => boolean,
): Promise<Record<string, number>> {
  const only = env["FLEET_FAULTS"]?.split(",");
  const all = Object.entries(faults).filter(([name]) => only?.includes(name) ?? true);
  const done: Record<string, number> = {};
  let left: typeof all = [];
  while (!isOver()) {
    await sleep(chance() * LEASE_MS);
    if (left.length === 0) left = [...all];
    const [[name, fault] = never()] = left.splice(Math.floor(chance() * left.length), 1);
    await fault(members[Math.floor(chance() * members.length)] ?? never(), chance);
    done[name] = (done[name] ?? 0) + 1;
  }
  return done;
}

/** Delayed sends may still be in flight; a sum that is too large never becomes right. */
async function checkSums(owed: ReadonlyMap<string, number>): Promise<void> {
  for (const [counter, sum] of owed) {
    const count = async () => {
      const ask = { body: 0, key: `final-${Math.random()}` };
      return Number((await callOnce(fleet ?? never(), `Sum/${counter}/add`, ask)).body);
    };
    await until(counter, async () => await count() >= sum, 30_000).catch(() => {});
    expect(await count(), counter).toBe(sum);
  }
}

test.skipIf(!program)(
  "processes die, freeze and lose the database: all is done, once",
  async () => {
    const [started, services] = await Promise.all([
      TestFleet.start({ program: program ?? "", processes: 3, partitions: 4 }),
      startEndpoint("h2", SERVICES),
    ]);
    [fleet, endpoint] = [started, services];
    expect((await register(started, services)).status).toBe(201);
    const chance = chanceFrom(seed);
    const load = new FleetLoad(started, new Notes(path.join(services.folder, "log")), chance);
    let isOver = false;
    const wanted = { ...scenarios, plainCall };
    const only = env["FLEET_ONLY"]?.split(",");
    const options = { scenarios: wanted, only, count: CLIENTS, isOver: () => isOver };
    const all = clients(load, options).finally(() => (isOver = true));
    const harmed = harm(started, chance, () => isOver).finally(() => (isOver = true));
    await Promise.race([sleep(loadMs), all, harmed]);
    isOver = true;
    // Waits for both, also after a failure: none may start a server while `afterEach` cleans up.
    await Promise.allSettled([all, harmed]);
    console.log(`FLEET_SEED=${seed}`, await all, await harmed);
    await started.settled();
    await checkSums(load.owed());
    for (const { target, status, body } of load.settled) {
      const again = await attach(started, target);
      expect([again.status, again.body], JSON.stringify(target)).toEqual([status, body]);
    }
  },
  loadMs + 120_000,
);
