// Does a server slow down while very much waits? The same load on an empty server, with 1,000 waiting in
// one scope, with 10,000 scopes of ten waiting each, and with 100,000 more in one scope; then after
// a kill, while the 100,000 start, and while the 10,000 queues drain. At the end the control for memory:
// an empty server again, that as many invocations have completed in.
//
//   npm run build && node test/bench/limits_backlog.mjs [--scopes 10000] [--deep 100000] [--rounds 3] [--seconds 3]
//
// Prints a line each, with ratios to the empty server; `--rounds 0` puts no load on it, and prints memory
// and times only. Needs what `semantics.mjs` needs.
import { parseArgs } from "node:util";
import { Caller } from "./_caller.mjs";
import { measure, mediansOf } from "./_compare.mjs";
import { until } from "./_process.mjs";
import * as targets from "./semantics_targets.mjs";
import { wrk } from "./_wrk.mjs";

const { values } = parseArgs({
  options: {
    scopes: { type: "string", default: "10000" },
    deep: { type: "string", default: "100000" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "3" },
  },
});
const [scopes, deep, rounds, seconds] = ["scopes", "deep", "rounds", "seconds"]
  .map((name) => Number(values[name]));
const EACH = 10, CONNECTIONS = 64;
const body = '"hi"';

const workloads = {
  echo: wrk(() => ({ path: "call/Semantics/echo", body, connections: CONNECTIONS })),
  scoped: wrk(() => ({ path: "scope/free/call/Semantics/echo", body, connections: CONNECTIONS })),
};

/** One start is allowed to each scope in a long time, so that what comes after it waits. */
const ONE = { rate: { count: 1, period: "30d" } };
const rulesOf = (deepLimit, each) => [
  { pattern: "*", limits: each },
  { pattern: "free", limits: { concurrency: 100_000 } },
  { pattern: "deep", limits: { concurrency: deepLimit } },
];

async function send(url, method, json) {
  const init = { method, headers: { "content-type": "application/json" } };
  const answer = await fetch(url, { ...init, ...json && { body: JSON.stringify(json) } });
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  return await answer.json();
}

const limitDeep = ({ admin }, limit, each = ONE) =>
  send(`${admin}/limits/rules`, "PUT", rulesOf(limit, each));
const ticks = ({ url }) => send(`${url}/call/Limited/ticks`, "POST");

/** Sends `count` invocations, over a few connections. */
async function fill({ url }, count, pathOf) {
  const { origin, pathname } = new URL(url);
  let next = 0;
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    const caller = new Caller(origin);
    while (next < count) {
      const status = await caller.post(`${pathname}/${pathOf(next++)}`, body);
      if (status !== 202) throw new Error(`A send was answered with ${status}`);
    }
    caller.close();
  }));
}

async function measured(target) {
  const seen = Object.fromEntries(Object.keys(workloads).map((name) => [name, []]));
  if (rounds > 0) { for (const run of Object.values(workloads)) await run(target, 1); }
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(workloads)) {
      seen[name].push(await measure(run, target, seconds));
    }
  }
  const found = Object.entries(seen).filter(([, all]) => all.length > 0);
  return Object.fromEntries(found.map(([name, all]) => [name, mediansOf(all)]));
}

/** Prints a line: the load, and memory, first as it is and then after a collection of garbage. */
async function print(title, target, base) {
  const figures = await measured(target);
  const part = (name) => {
    const { rps, p50, p99, cpuUs, errors } = figures[name];
    const ratio = (key) => (figures[name][key] / (base ?? figures)[name][key]).toFixed(2);
    return `${name} ${rps.toFixed(0)} rps (${ratio("rps")}x) p50 ${p50.toFixed(1)} p99 ${
      p99.toFixed(1)
    } ms ${cpuUs.toFixed(0)} us (${ratio("cpuUs")}x), ${errors} errors | `;
  };
  const loads = Object.keys(figures).map(part).join("");
  console.log(`${title.padEnd(24)} ${loads}${await memoryOf(target)}`);
  return figures;
}

async function memoryOf(target) {
  const before = targets.rssMiB(target).toFixed(0);
  const heap = isOther ? "" : `, heap ${(await targets.heapMiB(target)).toFixed(0)} MiB`;
  return `${before} MiB resident, ${targets.rssMiB(target).toFixed(0)} after a collection${heap}`;
}

/** How many invocations start in a second, and their CPU time, while `act` has `count` more of them start. */
async function pace(target, count, act = async () => {}) {
  const [before, cpu, began] = [await ticks(target), targets.cpuUs(target), performance.now()];
  let now = before;
  const haveStarted = async () => (now = await ticks(target)) >= before + count;
  await Promise.all([act(), until(`${count} starts`, haveStarted, 1_200_000)]);
  const started = now - before;
  const ms = performance.now() - began;
  return { ms, perSecond: started / ms * 1000, cpuUs: (targets.cpuUs(target) - cpu) / started };
}

const printPace = (title, { perSecond, cpuUs }, base) => {
  const ratios = base
    ? ` (${(perSecond / base.perSecond).toFixed(2)}x, CPU ${(cpuUs / base.cpuUs).toFixed(2)}x)`
    : "";
  console.log(
    `${title.padEnd(24)} ${perSecond.toFixed(0)} starts/s, ${cpuUs.toFixed(0)} us${ratios}`,
  );
};

/** Sends that start at once, as fast as they go. */
async function pushed(target, count) {
  return await pace(target, count, () => fill(target, count, () => "scope/free/send/Limited/tick"));
}

/** Another server than ours has no such heap. */
const isOther = process.env.BENCH_CMD !== undefined;
const services = await targets.startServices("h2");
const startOurs = () =>
  targets.startTarget("ours", services, { isFlowControlled: true, hasHeap: true });
let target = await startOurs();
await limitDeep(target, 1);
const empty = await print("empty", target);
const STARTS = Math.min(20_000, deep / 4);
await pushed(target, STARTS / 4);
const direct = await pushed(target, STARTS);
printPace("sends that start at once", direct);

await send(`${target.url}/scope/deep/send/Limited/hold`, "POST");
await fill(target, 1_000, () => "scope/deep/send/Limited/tick");
await print("1,000 waiting", target, empty);
await fill(target, scopes * (EACH + 1), (i) => `scope/s${i % scopes}/send/Limited/tick`);
await print(`${scopes} x ${EACH} waiting`, target, empty);
await fill(target, deep, () => "scope/deep/send/Limited/tick");
await print(`${deep} more in one`, target, empty);

const killed = performance.now();
await target.kill();
target = await startOurs();
await send(`${target.url}/call/Semantics/echo`, "POST", "x");
console.log(
  `${"after a kill".padEnd(24)} healthy after ${target.bootMs.toFixed(0)} ms, first call after ${
    (performance.now() - killed).toFixed(0)
  } ms, ${await memoryOf(target)}`,
);
await print("after a kill", target, empty);
const all = await ticks(target) + 1_000 + deep;
for (const limit of [1_000, 64]) {
  await limitDeep(target, limit);
  // With few of them the first limit may have let all begin.
  if (all - await ticks(target) < STARTS) continue;
  printPace(`out of the queue, ${limit}`, await pace(target, STARTS), direct);
}
await until("the rest", async () => await ticks(target) >= all, 1_200_000);
const drain = () => limitDeep(target, 64, { concurrency: 1 });
const { ms, ...drained } = await pace(target, scopes * EACH, drain);
printPace(`${scopes} queues, ${(ms / 1000).toFixed(1)} s`, drained, direct);
await print("afterwards", target, empty);

await target.kill();
targets.forget("ours");
target = await startOurs();
await limitDeep(target, 1, { concurrency: 100_000 });
await pushed(target, 1_000 + deep + scopes * (EACH + 1));
await print("control: as many, done", target, empty);
targets.stopAll();
process.exit(0);
