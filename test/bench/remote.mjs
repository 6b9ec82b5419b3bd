// What a database on a server costs: the same loads over a file, over sqld on loopback, and over sqld
// that is some milliseconds away. Runs on Deno, which takes TypeScript as it is.
//
//   npx deno run -A test/bench/remote.mjs [--runtime node] [--delay 20] [--seconds 5]
//
// At one connection, a call's time divided by the delay says how many round trips it takes.
import { readFileSync } from "node:fs";
import { once } from "node:events";
import process from "node:process";
import { Worker } from "node:worker_threads";
import { startServer } from "../support/server.ts";
import { sqldProgram, startSqld } from "../support/sqld.ts";
import { load } from "./_load.mjs";
import { startEndpoint } from "./_process.mjs";

const args = process.argv.slice(2);
const option = (name, fallback) => {
  const at = args.indexOf(`--${name}`);
  return at < 0 ? fallback : args[at + 1];
};
const runtime = option("runtime", "node");
const delayMs = Number(option("delay", 20));
const seconds = Number(option("seconds", 5));
const loads = {
  echo: () => "/svc/call/Null/echo",
  object: (i) => `/svc/call/Box/k${(i * 7919) % 10_000}/set`,
};

/** Milliseconds of a processor that a process has used. */
function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

async function measure(where, settings, endpoint) {
  const server = await startServer({ runtime, settings: { ...settings, LOG_LEVEL: "warn" } });
  const answer = await fetch(`${server.admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri: endpoint.url }),
  });
  if (answer.status !== 201) throw new Error(`Registration failed: ${await answer.text()}`);
  for (const [what, path] of Object.entries(loads)) {
    const ask = { path, body: '"x"' };
    await load(server.ingress, { ...ask, connections: 64, seconds: 2 });
    for (const connections of [1, 256]) {
      const before = cpuMs(server.pid);
      const seen = await load(server.ingress, { ...ask, connections, seconds });
      const { rps, p50, p99, errors } = seen;
      const cpuUs = (cpuMs(server.pid) - before) * 1000 / (rps * seconds);
      console.log(
        `${where.padEnd(14)} ${what.padEnd(6)} ${String(connections).padStart(3)} connections: ` +
          `${rps.toFixed(0)} calls/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ` +
          `${cpuUs.toFixed(0)} µs of CPU a call${errors ? `, ${errors} errors` : ""}`,
      );
    }
  }
  await server.close();
}

/** The median of what one small answer takes, in milliseconds. */
async function answerMs(url) {
  const times = [];
  for (let i = 0; i < 40; i++) {
    const began = performance.now();
    await (await fetch(`${url}/health`)).text();
    times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}

async function startFar(target, delayMs) {
  const worker = new Worker(new URL("./_distance_worker.ts", import.meta.url), {
    workerData: { target, delayMs },
  });
  const [url] = await once(worker, "message");
  return { url, close: () => worker.terminate() };
}

/** Timers come late, by a millisecond or two: so much less is asked of them. */
async function farAway(target, delayMs) {
  const directMs = await answerMs(target);
  for (let asked = delayMs - 4;; asked += 2) {
    const proxy = await startFar(target, asked);
    const laterMs = await answerMs(proxy.url) - directMs;
    if (laterMs < delayMs) {
      await proxy.close();
      continue;
    }
    console.log(`an answer comes ${laterMs.toFixed(1)} ms later`);
    return proxy;
  }
}

const program = await sqldProgram();
if (program === undefined) process.exit(1);
const endpoint = await startEndpoint();
try {
  await measure("file", {}, endpoint);
  for (const farMs of [0, delayMs]) {
    const sqld = await startSqld(program);
    const proxy = farMs > 0 ? await farAway(sqld.url, farMs) : undefined;
    const url = proxy?.url ?? sqld.url;
    const where = farMs > 0 ? `sqld +${farMs} ms` : "sqld loopback";
    await measure(where, { STORAGE__DATABASE_URL: url }, endpoint);
    await proxy?.close();
    await sqld.close();
  }
} finally {
  endpoint.stop();
}
process.exit(0);
