// What storage costs, on a file with synchronous=FULL: `node test/bench/store_bench.mjs [seconds]`.
// With ENCRYPTED=both it compares files with and without a key, in turns.
// CPU figures are of this process, all threads; they compare runs on one quiet machine only.
import { buildSync } from "esbuild";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { pathToFileURL } from "node:url";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PER_COMMIT = 50;
const body = new Uint8Array(100).fill(97);
const seconds = Number(process.argv[2] ?? 5);
const built = build();
const { SqlStore, folderKeyOf, migrate, openLibsql } = await import(
  pathToFileURL(`${built}/store.mjs`).href
);
const clock = {
  now: () => Date.now(),
  at: (due, call) => {
    const timer = setTimeout(call, due - Date.now());
    return () => clearTimeout(timer);
  },
  soon: (call) => setImmediate(call),
};
const folder = mkdtempSync(path.join(tmpdir(), "store-bench-"));
let files = 0;
try {
  if (process.env.ENCRYPTED === "both") await compareKeys();
  else await measure();
} finally {
  rmSync(folder, { recursive: true, force: true });
  rmSync(built, { recursive: true, force: true });
}

/** The same load without a key and with one, in turns. */
async function compareKeys() {
  const { databaseKey } = folderKeyOf("a key of the benchmark ".repeat(2));
  await withStore("warm up", (owned) => load(owned, seconds / 3), () => {});
  for (let round = 1; round <= 5; round++) {
    await withStore(`${round}, clear`, (owned) => load(owned, seconds), report);
    await withStore(`${round}, key`, (owned) => load(owned, seconds), report, {}, databaseKey);
  }
  for (let round = 1; round <= 5; round++) {
    for (const key of [undefined, databaseKey]) {
      const tell = ({ p50, p99 }) => {
        print(`commit of 1 row, ${key ? "key" : "clear"}, p50 ms`, p50);
        print(`commit of 1 row, ${key ? "key" : "clear"}, p99 ms`, p99);
      };
      await withStore("latency", (owned) => latency(owned, 1), tell, {}, key);
    }
  }
}

async function measure() {
  const limits = JSON.parse(process.env.LIMITS ?? "{}");
  await withStore("warm up", (owned) => load(owned, seconds / 3), () => {});
  await withStore("load", (owned) => load(owned, seconds), report, limits);
  await withStore("log only", (owned) => load(owned, seconds), report, {
    foldRowsMax: 1e9,
    foldBytesMax: 1e12,
  });
  await withStore(
    "WAL",
    wal,
    ({ bytes, count }) => print("WAL bytes per invocation", bytes / count),
  );
  for (const rows of [1, 100]) {
    await withStore("latency", (owned) => latency(owned, rows), ({ p50, p99 }) => {
      print(`commit of ${rows} rows, p50 ms`, p50);
      print(`commit of ${rows} rows, p99 ms`, p99);
    });
  }
}

/** Commits of 50 new invocations and the ends of 50 earlier ones, one after another. */
async function load({ store, lease, isLogOnly }, seconds) {
  let count = 0, inCommit = 0;
  const [cpu, main, start] = [process.cpuUsage(), mainCpu(), Date.now()];
  const waits = [];
  let making = 0;
  while (Date.now() - start < seconds * 1000) {
    const t = performance.now();
    const writes = turn(count);
    const before = performance.now();
    making += before - t;
    const durable = store.commit(lease, writes);
    inCommit += performance.now() - before;
    await durable;
    waits.push(performance.now() - before);
    count += PER_COMMIT;
  }
  if (!isLogOnly) await store.flush(lease);
  const { user, system } = process.cpuUsage(cpu);
  return {
    count,
    seconds: (Date.now() - start) / 1000,
    inCommit: inCommit * 1000 / count,
    main: (mainCpu() - main) / count,
    making: making * 1000 / count,
    cpu: (user + system) / count,
    system: system / count,
    waits: percentiles(waits),
  };
}

function report({ count, seconds, inCommit, main, making, cpu, system, waits }) {
  print("invocations per second", count / seconds);
  print("µs in commit() per invocation (2 rows, 3 entries)", inCommit);
  print("µs on the main thread per invocation, less the benchmark's own", main - making);
  print("µs CPU per invocation, all threads, less the benchmark's own", cpu - making);
  print("  of which in the kernel", system);
  print("ms per commit of 50, p50", waits.p50);
  print("ms per commit of 50, p99", waits.p99);
}

/** Bytes in the write-ahead log, which is kept from being moved into the file. */
async function wal({ store, lease, client, file }) {
  const before = statSync(`${file}-wal`).size;
  await client.batch("read", [{ sql: "pragma wal_autocheckpoint = 0", args: [] }]);
  let count = 0;
  for (; count < 400 * PER_COMMIT; count += PER_COMMIT) await store.commit(lease, turn(count));
  await store.flush(lease);
  return { count, bytes: statSync(`${file}-wal`).size - before };
}

async function latency({ store, lease }, rows) {
  const waits = [];
  const start = Date.now();
  for (let n = 0; Date.now() - start < 1000 * seconds / 3; n++) {
    const writes = Array.from({ length: rows }, (_, i) => put(id(n * rows + i), 1));
    const before = performance.now();
    await store.commit(lease, writes);
    waits.push(performance.now() - before);
  }
  return percentiles(waits);
}

function turn(first) {
  const writes = [];
  for (let n = first; n < first + PER_COMMIT; n++) {
    const fresh = id(n);
    writes.push(put(fresh, 1), entry(fresh, 0));
    if (first === 0) continue;
    const old = id(n - PER_COMMIT);
    writes.push(put(old, 4), entry(old, 1), entry(old, 2));
  }
  return writes;
}

/** 64 partition keys, and a tail that grows: the shape of real ids. */
function id(n) {
  const key = ((n * 2654435761) >>> 8) % 64;
  return `inv_1${String(key).padStart(11, "a")}${String(n).padStart(22, "0")}`;
}

function put(id, heard) {
  const isDone = heard > 1;
  const row = {
    id,
    target: { service: "Greeter", handler: "greet", type: "service", access: "none" },
    status: { kind: isDone ? "completed" : "invoked" },
    origin: { by: "ingress" },
    attempt: 1,
    heard,
    journal: heard,
    commands: heard,
    failures: 0,
    failuresSinceCommand: 0,
    pin: { deployment: "dp_1aaaaaaaaaaaaaaaaaaaaaa", protocol: 6 },
    callers: [],
    retention: { resultMs: 86400000, journalMs: 86400000 },
    createdAt: 1732190000000,
    modifiedAt: 1732190000123,
    runningAt: 1732190000002,
    ...(isDone && { completedAt: 1732190000123, expiresAt: 1732276400123, output: body }),
  };
  return { table: "invocation", drop: false, row };
}

function entry(id, index) {
  const entry = index === 0
    ? { kind: "input", headers: [["content-type", "application/json"]], value: body }
    : { kind: "command", type: 0x0411, bytes: body };
  return { table: "journal", drop: false, row: { id, index, at: 1732190000123, entry } };
}

async function withStore(name, act, tell, limits = {}, databaseKey = undefined) {
  const file = path.join(folder, `${++files}.db`);
  const url = pathToFileURL(file).href;
  const worker = pathToFileURL(`${built}/libsql_worker.mjs`);
  const client = await openLibsql({ url, worker, databaseKey });
  await migrate(client);
  const store = new SqlStore(client, { clock, ...limits });
  const isLogOnly = limits.foldRowsMax === 1e9;
  const owned = { store, client, file, isLogOnly, lease: await store.claim(0) };
  const told = await act(owned);
  if (tell === report) process.stdout.write(`${name}:\n`);
  tell(told);
  await store.close();
  await client.close();
}

/** What the main thread has taken of the processor, in µs. Linux only. */
function mainCpu() {
  const [ns] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
  return Number(ns) / 1000;
}

function percentiles(values) {
  const sorted = values.sort((a, b) => a - b);
  const at = (part) => sorted[Math.floor(part * (sorted.length - 1))];
  return { p50: at(0.5), p99: at(0.99) };
}

function print(what, value) {
  process.stdout.write(`${what.padEnd(64)} ${value.toFixed(2)}\n`);
}

function build() {
  const cache = path.join(ROOT, "node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const out = mkdtempSync(path.join(cache, "store-bench-"));
  const options = { bundle: true, platform: "node", format: "esm", packages: "external" };
  buildSync({
    ...options,
    entryPoints: [path.join(ROOT, "adapters/libsql/file/worker.ts")],
    outfile: `${out}/libsql_worker.mjs`,
  });
  const contents = `
    export { SqlStore } from "./src/storage/sql_store.ts";
    export { migrate } from "./src/storage/schema/migrations.ts";
    export { folderKeyOf } from "./adapters/libsql/file/folder_key.ts";
    export { openLibsql } from "./adapters/libsql/file/open.ts";`;
  buildSync({ ...options, stdin: { contents, resolveDir: ROOT }, outfile: `${out}/store.mjs` });
  return out;
}
