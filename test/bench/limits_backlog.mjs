// Does a server slow down while very much waits? The same load on an empty server, with 1,000 waiting in
// one scope, with 10,000 scopes of ten waiting each, and with 100,000 more in one scope; then after
// a kill, and while the 100,000 start.
//
//   npm run build && node test/bench/limits_backlog.mjs [--scopes 10000] [--deep 100000] [--rounds 3] [--seconds 3]
//
// Prints a line each, with ratios to the empty server. Needs what `semantics.mjs` needs.
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
const rulesOf = (deepLimit) => [
  { pattern: "*", limits: ONE },
  { pattern: "free", limits: { concurrency: 100_000 } },
  { pattern: "deep", limits: { concurrency: deepLimit } },
];

async function send(url, method, json) {
  const init = { method, headers: { "content-type": "application/json" } };
  const answer = await fetch(url, { ...init, ...json && { body: JSON.stringify(json) } });
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  return await answer.json();
}

const limitDeep = ({ admin }, limit) => send(`${admin}/limits/rules`, "PUT", rulesOf(limit));
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
  for (const run of Object.values(workloads)) await run(target, 1);
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(workloads)) {
      seen[name].push(await measure(run, target, seconds));
    }
  }
  return Object.fromEntries(Object.entries(seen).map(([name, all]) => [name, mediansOf(all)]));
}

function print(title, target, figures, base = figures) {
  const part = (name) => {
    const { rps, p50, p99, cpuUs, errors } = figures[name];
    const ratio = (key) => (figures[name][key] / base[name][key]).toFixed(2);
    return `${name} ${rps.toFixed(0)} rps (${ratio("rps")}x) p50 ${p50.toFixed(1)} p99 ${
      p99.toFixed(1)
    } ms ${cpuUs.toFixed(0)} us (${ratio("cpuUs")}x), ${errors} errors`;
  };
  const memory = `${targets.rssMiB(target).toFixed(0)} MiB`;
  console.log(`${title.padEnd(24)} ${part("echo")} | ${part("scoped")} | ${memory}`);
}

/** How many invocations start in a second, and their CPU time, from now until `count` more have. */
async function pace(target, count) {
  const [before, cpu, began] = [await ticks(target), targets.cpuUs(target), performance.now()];
  let now = before;
  await until(`${count} starts`, async () => (now = await ticks(target)) >= before + count);
  const started = now - before;
  const perSecond = started / ((performance.now() - began) / 1000);
  return { perSecond, cpuUs: (targets.cpuUs(target) - cpu) / started };
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
  const measuring = pace(target, count);
  await fill(target, count, () => "scope/free/send/Limited/tick");
  return await measuring;
}

const isFlowControlled = true;
const services = await targets.startServices("h2");
let target = await targets.startTarget("ours", services, { isFlowControlled });
await limitDeep(target, 1);
const empty = await measured(target);
print("empty", target, empty);
const STARTS = Math.min(20_000, deep / 4);
await pushed(target, STARTS / 4);
const direct = await pushed(target, STARTS);
printPace("sends that start at once", direct);

await send(`${target.url}/scope/deep/send/Limited/hold`, "POST");
await fill(target, 1_000, () => "scope/deep/send/Limited/tick");
print("1,000 waiting", target, await measured(target), empty);
await fill(target, scopes * (EACH + 1), (i) => `scope/s${i % scopes}/send/Limited/tick`);
print(`${scopes} x ${EACH} waiting`, target, await measured(target), empty);
await fill(target, deep, () => "scope/deep/send/Limited/tick");
print(`${deep} more in one`, target, await measured(target), empty);

const killed = performance.now();
await target.kill();
target = await targets.startTarget("ours", services, { isFlowControlled });
await send(`${target.url}/call/Semantics/echo`, "POST", "x");
console.log(
  `${"after a kill".padEnd(24)} healthy after ${target.bootMs.toFixed(0)} ms, first call after ${
    (performance.now() - killed).toFixed(0)
  } ms, ${targets.rssMiB(target).toFixed(0)} MiB`,
);
print("after a kill", target, await measured(target), empty);
for (const limit of [1_000, 64]) {
  await limitDeep(target, limit);
  printPace(`out of the queue, ${limit}`, await pace(target, STARTS), direct);
}
targets.stopAll();
process.exit(0);
