// What a call costs between ingress and outbound: turn, commit, log, fold. No HTTP at all.
//   npx esbuild test/bench/partition_bench.ts --bundle --platform=node --format=esm --packages=external --outfile=dist/partition_bench.mjs && node dist/partition_bench.mjs
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { inlineCommits } from "../../adapters/libsql/file/inline_commits.ts";
import { clock } from "../../adapters/platform/clock.ts";
import { random } from "../../adapters/platform/random.ts";
import type { Attempt } from "../../src/engine/effect.ts";
import { ONLY_PARTITION } from "../../src/model/ring.ts";
import { newInvocationId } from "../../src/model/id.ts";
import { Host } from "../../src/partition/host.ts";
import type { Mailbox, Store } from "../../src/ports.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { schema, targetOf } from "../support/schema.ts";

const NO_ENTROPY = new Uint8Array(16);
const bytes = new Uint8Array([0x72, 6, 0x0a, 4, 0x22, 0x6f, 0x6b, 0x22]);
const value = new Uint8Array([0x22, 0x6f, 0x6b, 0x22]);

/** Answers every attempt at once, as the null endpoint does. */
function attempts(send: Mailbox) {
  return {
    start: ({ attempt, invocation: { id } }: Attempt) => {
      send({
        type: "framesReceived",
        id,
        attempt,
        first: 0,
        frames: [{
          kind: "output",
          bytes: bytes.slice(),
          result: { kind: "value", value: value.slice() },
        }],
        pin: { deployment: "dp_1", protocol: 6 },
        entropy: NO_ENTROPY,
      });
      send({ type: "attemptEnded", id, attempt, outcome: { kind: "ended" }, jitter: 0 });
    },
    notify: () => {},
    abort: () => {},
    yield: () => {},
    close: () => {},
  };
}

/** CPU time of the main thread, to 10 ms. */
function mainCpuUs(): number {
  const stat = readFileSync(`/proc/self/task/${process.pid}/stat`, "utf8").split(") ")[1] ?? "";
  const [user, system] = stat.split(" ").slice(11, 13).map(Number);
  return ((user ?? 0) + (system ?? 0)) * 10_000;
}

function hostOver(store: Store): Host {
  return new Host({
    range: ONLY_PARTITION,
    store,
    clock,
    log: (level, message, fields) => console.error(level, message, fields),
    schema: () => schema,
    attempts,
    turnEventsMax: 1000,
    releaseEffectsMax: 32,
    mailboxEventsMax: 65536,
    residentBytesMax: 32 << 20,
    timersMax: 10_000,
    cleanupIntervalMs: 3_600_000,
  });
}

/** A function that makes one call. */
function caller(host: Host) {
  const target = targetOf("greeter/hi");
  const headers = [["x-svc-ingress-path", "/svc/call/Null/echo"], ["host", "127.0.0.1"], [
    "content-type",
    "application/json",
  ]] as const;
  const retention = { resultMs: 86_400_000, journalMs: 86_400_000 };
  return () => {
    const entropy = random(16);
    const identity = { ...target, isWorkflowRun: false };
    const value = new Uint8Array([0x22, 0x78, 0x22]);
    const origin = { by: "ingress" } as const;
    return host.partitionClient.call({
      ...newInvocationId(identity, entropy, Date.now()),
      target,
      headers,
      value,
      origin,
      retention,
    });
  };
}

async function run(name: string, store: Store, calls: number, connections: number) {
  const host = hostOver(store);
  let commits = 0;
  const commit = store.commit.bind(store);
  store.commit = (lease, writes) => (commits++, commit(lease, writes));
  await host.open();
  const call = caller(host);
  const batch = async (count: number) => {
    let left = count;
    await Promise.all(Array.from({ length: connections }, async () => {
      while (left-- > 0) await call();
    }));
  };
  await batch(calls / 2);
  commits = 0;
  const mainUs = mainCpuUs();
  const cpu = process.cpuUsage(),
    began = performance.now(),
    idle = performance.eventLoopUtilization();
  await batch(calls);
  const used = process.cpuUsage(cpu), ms = performance.now() - began;
  const grouped = calls / commits;
  const busy = performance.eventLoopUtilization(idle).active;
  console.log(
    `${name} c${connections}: ${(calls / ms * 1000).toFixed(0)} calls/s, ${
      ((used.user + used.system) / calls).toFixed(1)
    } us cpu, of it ${((mainCpuUs() - mainUs) / calls).toFixed(1)} main thread, ${
      (busy / calls * 1000).toFixed(1)
    } us busy loop per call, ${grouped.toFixed(1)} calls/commit`,
  );
  host.close();
}

const folder = mkdtempSync(path.join(tmpdir(), "partition-bench-"));
for (const connections of (process.env.C ?? "1,64,256").split(",").map(Number)) {
  const calls = connections === 1 ? 6000 : 40_000;
  if (process.env.ONLY !== "file") await run("memory", new MemoryStore(), calls, connections);
  if (process.env.ONLY === "memory") continue;
  const url = `file:${path.join(folder, `${connections}.db`)}`;
  const worker = await openLibsql({ url, worker: new URL("./libsql_worker.mjs", import.meta.url) });
  const client = process.env.NEAR === "no" ? worker : inlineCommits(worker, { url });
  await migrate(client);
  await run(
    "file  ",
    new SqlStore(client, {
      clock,
      ...(process.env.FOLD ? { foldRowsMax: Number(process.env.FOLD), foldBytesMax: 1e9 } : {}),
    }),
    calls,
    connections,
  );
  await client.close();
}
rmSync(folder, { recursive: true, force: true });
