import { expect, test } from "vitest";
import { clock } from "../../adapters/platform/clock.ts";
import { random } from "../../adapters/platform/random.ts";
import type { Attempt } from "../../src/engine/effect.ts";
import type { Outcome } from "../../src/engine/event.ts";
import { ONLY_PARTITION } from "../../src/model/ring.ts";
import { newInvocationId } from "../../src/model/id.ts";
import { Meter } from "../../src/observe/meter.ts";
import { STATUSES } from "../../src/observe/status_counts.ts";
import { Watch } from "../../src/observe/watch.ts";
import { Host } from "../../src/partition/host.ts";
import type { Write } from "../../src/model/rows.ts";
import type { InvocationStatus, Lease, Mailbox } from "../../src/ports.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { until } from "../support/child.ts";
import { schema, targetOf } from "../support/schema.ts";

const OUTCOMES: readonly Outcome[] = [
  { kind: "ended" },
  { kind: "ended" },
  {
    kind: "suspended",
    awaiting: { kind: "unknown", completions: [9], signals: [], names: [] },
    delivered: 1,
  },
  { kind: "failed", failure: { code: "RT0007", status: 500, message: "x" }, reached: true },
  {
    kind: "failed",
    failure: { code: "RT0007", status: 500, message: "x" },
    reached: true,
    behavior: "pause",
  },
  {
    kind: "failed",
    failure: { code: "RT0007", status: 500, message: "x" },
    reached: true,
    behavior: "fail",
  },
];
const value = new Uint8Array([0x22, 0x22]);

/** Attempts that end at once, each in another way. */
function attempts(send: Mailbox) {
  let turn = 0;
  return {
    start: ({ attempt, invocation: { id } }: Attempt) => {
      const pin = { deployment: "dp_1", protocol: 6 };
      const frames = [{ kind: "output", bytes: value, result: { kind: "value", value } }] as const;
      send({
        type: "framesReceived",
        id,
        attempt,
        first: 0,
        frames,
        pin,
        entropy: new Uint8Array(16),
      });
      const outcome = OUTCOMES[turn++ % OUTCOMES.length] as Outcome;
      send({ type: "attemptEnded", id, attempt, outcome, jitter: 0 });
    },
    notify: () => {},
    abort: () => {},
    yield: () => {},
    close: () => {},
  };
}

/** A store that remembers the lease, and whose scans cover everything. */
class Known extends MemoryStore {
  lease: Lease = { partition: 0, epoch: 0 };

  override async claim(partition: number): Promise<Lease> {
    return this.lease = await super.claim(partition);
  }

  /** Takes it at once, and says so later: meanwhile turns pile up that it does not know. */
  override async commit(lease: Lease, writes: readonly Write[]): Promise<void> {
    await super.commit(lease, writes);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }

  all(): Promise<readonly InvocationStatus[]> {
    return this.scanStatuses(this.lease, { limit: 1e9 });
  }
}

function hostOver(store: Known, meter: Meter, residentBytesMax: number): Host {
  return new Host({
    range: ONLY_PARTITION,
    store,
    clock,
    log: () => {},
    schema: () => schema,
    attempts,
    turnEventsMax: 10,
    releaseEffectsMax: 32,
    mailboxEventsMax: 65_536,
    residentBytesMax,
    timersMax: 1000,
    cleanupIntervalMs: 20,
    watch: new Watch({ meter, log: () => {}, isDetailed: true }),
  });
}

let made = 0;
function send(host: Host, startAt?: number): Promise<{ id: string }> {
  const target = targetOf(["greeter/hi", "counter/a/add", "counter/b/add"][made++ % 3] ?? "");
  const identity = { ...target, isWorkflowRun: false };
  return host.partitionClient.send({
    ...newInvocationId(identity, random(16), Date.now()),
    target,
    headers: [],
    value,
    origin: { by: "ingress" },
    retention: { resultMs: made % 4 === 0 ? 0 : made % 5 === 0 ? 50 : 1e6, journalMs: 0 },
    ...(startAt === undefined ? {} : { startAt }),
  });
}

const WISHES = ["cancel", "kill", "pause", "purge"] as const;

/** How many there are of each kind, by the store or by the status counts. */
function counted(found: Iterable<readonly [string, number]>): string {
  const sums = new Map<string, number>();
  for (const [name, count] of found) sums.set(name, (sums.get(name) ?? 0) + count);
  return JSON.stringify([...sums].filter(([, count]) => count !== 0).sort());
}

async function real(store: Known): Promise<string> {
  const all = await store.all();
  return counted(all.map(({ service, handler, status }) => [`${service}/${handler}/${status}`, 1]));
}

async function told(host: Host): Promise<string> {
  const counts = [...await host.statusCounts(5000) ?? []];
  return counted(
    counts.flatMap(([service, handler, numbers]) =>
      STATUSES.map(([kind], i) => [`${service}/${handler}/${kind}`, numbers[i] ?? 0] as const)
    ),
  );
}

/** Compares at a moment when nothing moved while it looked. */
/** An attempt may begin and fail within such a moment: then the next one tells. */
const MOMENTS_MAX = 20;

async function expectExact(store: Known, host: Host): Promise<void> {
  let moments = 0;
  await until("a moment in which nothing moves", async () => {
    const before = await real(store);
    const counts = await told(host);
    if (before !== await real(store)) return false;
    if (counts !== before && ++moments < MOMENTS_MAX) return false;
    expect(counts).toBe(before);
    return true;
  });
}

/** Time for turns, and for no commit. */
async function turns(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Some work of every kind. `amid` is called while turns and commits are under way. */
async function work(host: Host, ids: string[], amid: () => void): Promise<void> {
  for (let round = 0; round < 25; round++) {
    const sent = Array.from(
      { length: 10 },
      (_, i) => send(host, i === 0 ? Date.now() + 1e6 : undefined),
    );
    const wishes = Array.from({ length: 8 }, (_, i) => {
      const id = ids[(round * 31 + i * 17) % ids.length];
      const kind = WISHES[(round + i) % WISHES.length] ?? "kill";
      return id === undefined ? undefined : host.partitionClient.operate(id, { kind });
    });
    if (round === 10) {
      // The commit of the first ones is under way, so what comes now is gathered for the next.
      await turns();
      sent.push(...Array.from({ length: 5 }, () => send(host)));
      await turns();
      amid();
    }
    for (const { id } of await Promise.all(sent)) ids.push(id);
    await Promise.all(wishes);
  }
}

test.each([0, 0, 0, 1e9, 1e9])("counts follow all work, with %d bytes of memory", async (bytes) => {
  const store = new Known();
  const meter = new Meter();
  const host = hostOver(store, meter, bytes);
  await host.open();
  await work(host, [], () => void host.statusCounts(1));
  await expectExact(store, host);
  expect(new Set((await store.all()).map(({ status }) => status)).size).toBeGreaterThan(4);
  if (bytes === 0) expect(meter.reruns).toBeGreaterThan(0);
  host.close();
  const successor = hostOver(store, meter, bytes);
  await successor.open();
  await expectExact(store, successor);
  successor.close();
}, 30_000);
