import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import type { SqlClient } from "../../src/ports.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { chance as chanceFrom } from "../storage/_lossy.ts";
import { HEARTBEAT_MS, LEASE_MS, PARTITIONS, Process, type ProcessOptions } from "./_process.ts";
import { VirtualTime } from "./_time.ts";

const SEED = Number(process.env["MEMBERSHIP_SEED"] ?? Math.floor(Math.random() * 1e9));
let client: SqlClient, time: VirtualTime, all: Process[];

beforeEach(async () => {
  client = await openLibsql({ url: ":memory:" });
  await migrate(client);
  time = new VirtualTime();
  all = [];
});
afterEach(async ({ task }) => {
  if (task.result?.state === "fail") console.error(`MEMBERSHIP_SEED=${SEED}`);
  await client.close();
});

type Ways = Partial<Pick<ProcessOptions, "from" | "pace" | "openMs" | "wayMs" | "joinMs">>;

function add(more: Ways = {}): Process {
  const others = () => all;
  const name = `p${all.length}`;
  const one = new Process({ name, time, database: time.watched(client), others, ...more });
  all.push(one);
  return one;
}

async function joined(count: number, more: Ways = {}): Promise<Process[]> {
  for (let n = 0; n < count; n++) {
    const joining = add(more).agent.join();
    await time.pass(more.wayMs ? HEARTBEAT_MS * 15 : 100, check);
    await joining;
  }
  await time.pass(HEARTBEAT_MS, check);
  return all;
}

/** No partition is ever served by two processes. */
function check(): void {
  const seen = new Map<number, string>();
  for (const { name, held } of all) {
    for (const partition of held) {
      expect(seen.get(partition), `${partition}, held by ${name} at ${time.now}`).toBeUndefined();
      seen.set(partition, name);
    }
  }
}

function counts(): number[] {
  return all.map(({ held }) => held.length);
}

function served(): number[] {
  return all.flatMap(({ held }) => held).sort((a, b) => a - b);
}

const EVERY = Array.from({ length: PARTITIONS }, (_, partition) => partition);
/** Until a death is detected, and the claimed partitions are served. */
const FAILOVER_MS = LEASE_MS + 3 * HEARTBEAT_MS;

describe("partitions are spread", () => {
  test("over the processes that join", async () => {
    await joined(1);
    expect(counts()).toEqual([7]);
    await joined(1);
    expect(counts().toSorted()).toEqual([3, 4]);
    await joined(1);
    expect([counts().toSorted(), served()]).toEqual([[2, 2, 3], EVERY]);
  });

  test("at once when a process leaves", async () => {
    const [one] = await joined(3);
    const leaving = one?.agent.leave();
    await time.pass(100, check);
    await leaving;
    expect([counts()[0], served()]).toEqual([0, EVERY]);
  });

  test("in less than 10 s when a process dies", async () => {
    const [one] = await joined(3);
    one?.kill();
    await time.pass(LEASE_MS - 2 * HEARTBEAT_MS, check);
    expect(served().length).toBeLessThan(PARTITIONS);
    await time.pass(10_000 - LEASE_MS + 2 * HEARTBEAT_MS, check);
    expect(served()).toEqual(EVERY);
  });

  test("at once when a process comes back under the same address", async () => {
    const [one] = await joined(2);
    one?.kill();
    await time.pass(10, check);
    const again = new Process({
      name: "p0",
      time,
      database: time.watched(client),
      others: () => all,
      from: 5_000,
    });
    all.push(again);
    const joining = again.agent.join();
    await time.pass(200, check);
    await joining;
    expect(served()).toEqual(EVERY);
  });
});

describe("a process that cannot send heartbeats", () => {
  test("answers nothing before the others take over, and gets a share again", async () => {
    const [one] = await joined(2);
    if (one) one.isCut = true;
    await time.pass(LEASE_MS, check);
    expect(one?.held).toEqual([]);
    await time.pass(3 * HEARTBEAT_MS, check);
    expect(served()).toEqual(EVERY);
    if (one) one.isCut = false;
    await time.pass(FAILOVER_MS, check);
    expect([counts().toSorted(), served()]).toEqual([[3, 4], EVERY]);
  });

  // With a clock set back meanwhile, and with a response of the database in flight.
  test.each([[0, 2], [-4 * LEASE_MS, 2], [0, 400]])(
    "and was frozen stops serving at the moment it resumes: %i, %i",
    async (wallMs, wayMs) => {
      const [one] = await joined(2, wayMs > 2 ? { wayMs: () => wayMs } : {});
      one?.freeze();
      if (one) one.wallMs = wallMs;
      await time.pass(3 * LEASE_MS, check);
      expect([one?.held, served()]).toEqual([[], EVERY]);
      one?.thaw();
      expect(one?.held).toEqual([]);
      await time.pass(2 * FAILOVER_MS, check);
      expect([counts().toSorted(), served()]).toEqual([[3, 4], EVERY]);
    },
  );

  test("keeps its partitions when no process could", async () => {
    const before = (await joined(3)).map(({ held }) => held.toSorted());
    for (let round = 0; round < 6; round++) {
      for (const one of all) one.isCut = true;
      await time.pass(4 * LEASE_MS, check);
      expect(served()).toEqual([]);
      for (const one of all) {
        one.isCut = false;
        await time.pass(HEARTBEAT_MS / 3, check);
      }
      await time.pass(FAILOVER_MS + round * HEARTBEAT_MS / 6, check);
      expect(all.map(({ held }) => held.toSorted())).toEqual(before);
    }
    expect(all.flatMap(({ logs }) => logs)).not.toContainEqual(expect.stringContaining("dead"));
  });

  test("does not serve a partition that it finds without an owner, until it has claimed it again", async () => {
    const [one] = await joined(1);
    await client.batch("write", [{ sql: "update lease set owner = null", args: [] }]);
    await time.pass(HEARTBEAT_MS, check);
    expect(one?.closed).toEqual(EVERY);
    await time.pass(HEARTBEAT_MS, check);
    expect(served()).toEqual(EVERY);
  });
});

test("a process that comes back is alive, though its partitions take longer to open than a lease", async () => {
  const [killed, other] = await joined(2);
  killed?.kill();
  const database = time.watched(client);
  const others = () => all;
  const again = new Process({ name: "p0", time, database, others, openMs: 3 * LEASE_MS });
  all.push(again);
  const joining = again.agent.join();
  await time.pass(4 * LEASE_MS, check);
  await joining;
  expect([other?.logs, again.logs]).toEqual([[], []]);
  expect(served()).toEqual(EVERY);
});

test("a process joins once the database answers, and gives up after a while", async () => {
  const joinMs = 3 * LEASE_MS;
  const [one, two] = [add({ joinMs }), add({ joinMs })];
  one.isCut = two.isCut = true;
  const joining = one.agent.join();
  const failing = expect(two.agent.join()).rejects.toThrow("no answer in time");
  await time.pass(joinMs / 2, check);
  one.isCut = false;
  await time.pass(joinMs, check);
  await joining;
  await failing;
  expect(served()).toEqual(EVERY);
  expect(one.logs).toEqual(["warn Waiting to join the fleet"]);
});

test("a lease counts from when its heartbeat began, however long that took", async () => {
  const [one] = await joined(1, { wayMs: () => 900 });
  if (one) one.isCut = true;
  const began = (one?.seenAt ?? 0) - 1_800;
  // 5/6 of it are relied on.
  const until = began + LEASE_MS * 5 / 6;
  await time.pass(until - 1 - time.now, check);
  expect(one?.held).toEqual(EVERY);
  await time.pass(1, check);
  expect(one?.held).toEqual([]);
});

test("a change of the wall clock moves no partition", async () => {
  const [one, two] = await joined(2);
  const before = counts();
  for (const step of [3_600_000, -7_200_000, 50]) {
    if (two) two.wallMs += step;
    await time.pass(2 * HEARTBEAT_MS, check);
    expect(counts()).toEqual(before);
  }
  expect([one?.logs, two?.logs]).toEqual([[], []]);
});

/** One of the things that happen to processes, and its end. */
function harm(one: Process, chance: () => number): () => void {
  const kind = chance();
  if (kind < 0.3) {
    one.freeze();
    return () => one.thaw();
  }
  if (kind < 0.6) {
    one.isCut = true;
    return () => one.isCut = false;
  }
  if (kind < 0.7) {
    one.wallMs += (chance() - 0.5) * 20_000;
    return () => {};
  }
  if (kind < 0.85) one.kill();
  else void one.agent.leave().catch(() => {}).then(() => one.isAlive = false);
  return () => {};
}

describe("under all faults no partition is served by two processes, and all are served in the end", () => {
  for (let n = 0; n < 12; n++) {
    test(`seed ${SEED + n}`, async () => {
      const chance = chanceFrom(SEED + n);
      const birth = () => {
        const from = chance() * 1e6, pace = 0.98 + chance() * 0.04;
        const slow = chance() * 950;
        const wayMs = () => 1 + chance() ** 3 * slow;
        const one = add({ from, pace, wayMs, openMs: chance() * 500 });
        one.agent.join().catch(() => one.kill());
      };
      for (let count = 0; count < 3; count++) birth();
      const ends: (() => void)[] = [];
      for (let step = 0; step < 25; step++) {
        await time.pass(chance() * LEASE_MS * 0.7, check);
        const alive = all.filter(({ isAlive }) => isAlive);
        const one = alive[Math.floor(chance() * alive.length)];
        if (one) ends.push(harm(one, chance));
        if (chance() < 0.5) ends.splice(Math.floor(chance() * ends.length), 1)[0]?.();
        if (alive.length < 3) birth();
      }
      for (const end of ends) end();
      birth();
      await time.pass(4 * FAILOVER_MS, check);
      expect(served()).toEqual(EVERY);
      const held = all.filter(({ isAlive }) => isAlive).map(({ held }) => held.length);
      expect(Math.max(...held) - Math.min(...held)).toBeLessThanOrEqual(1);
    });
  }
});
