// How long an echo takes beside somebody who asks much of the server: an endpoint that writes Sleep
// commands as fast as it can, outputs of 30 MB, registrations of deployments of 5,000 services.
//
//   npm run build && node test/bench/fairness.mjs [--seconds 5]
//
// Echoes are sent at a fixed rate, whether those before are answered or not: a server that stands still
// for a second is seen by all requests of that second. Prints a line each, with the ratio of the p99 to
// the quiet one, then the memory 10 s later.
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { startEndpoint, startServer } from "./_process.mjs";

const at = process.argv.indexOf("--seconds");
const seconds = at < 0 ? 5 : Number(process.argv[at + 1]);
const EVERY_MS = 10;

/** The endpoints that ask much of a server. */
async function startHostile() {
  const worker = new Worker(new URL("./_hostile.mjs", import.meta.url));
  const urls = await new Promise((resolve) => worker.once("message", resolve));
  return { ...urls, stop: () => worker.postMessage("stop") };
}

const json = { "content-type": "application/json" };
const post = (url, body) => fetch(url, { method: "POST", headers: json, body });

/** Calls the handler with the large output, and drops what it answers. */
function large(server) {
  return new Promise((resolve, reject) => {
    const options = { method: "POST", headers: json };
    http.request(`${server.ingress}/svc/call/Large/run`, options, (answer) => {
      answer.on("error", reject).on("end", resolve).resume();
    }).on("error", reject).end();
  });
}

async function register(server, body) {
  const answer = await post(`${server.admin}/deployments`, JSON.stringify(body));
  if (!answer.ok) throw new Error(`Registration answered ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

/** Echoes at a fixed rate until `isExpired`. Answers latencies in milliseconds, sorted. */
async function echoes(server, isOver) {
  const times = [];
  const open = [];
  for (let next = performance.now(); !isOver(); next += EVERY_MS) {
    while (performance.now() < next) await new Promise((resolve) => setTimeout(resolve, 1));
    const due = next;
    open.push(
      post(`${server.ingress}/svc/call/Null/echo`, '"x"')
        .then((answer) => answer.arrayBuffer())
        .then(() => times.push(performance.now() - due)),
    );
  }
  await Promise.all(open);
  return times.sort((a, b) => a - b);
}

/** Echoes beside `work`, for as long as it takes. */
async function beside(server, work) {
  let isOver = false;
  const working = work().finally(() => isOver = true);
  const times = await echoes(server, () => isOver);
  await working;
  return times;
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const quantile = (times, part) =>
  times[Math.min(times.length - 1, Math.floor(times.length * part))];

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "fairness-"));
const [endpoint, hostile] = [await startEndpoint(), await startHostile()];
// The endpoint that never stops is not to be paused in the middle.
const env = { SVC_WORKER__INVOKER__JOURNAL_ENTRIES_LIMIT: "unlimited" };
const server = await startServer(folder, env);
let peak = 0;
const watch = setInterval(() => peak = Math.max(peak, server.rssMiB()), 50);
try {
  await register(server, { uri: endpoint.url });
  await register(server, { uri: hostile.hostile });
  const asLong = () => pause(seconds * 1000);
  await beside(server, asLong);
  const quiet = await beside(server, asLong);
  const report = (what, times) => {
    const [p50, p99, max] = [0.5, 0.99, 1].map((part) => quantile(times, part));
    const ratio = (p99 / quantile(quiet, 0.99)).toFixed(1);
    const figures = `p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} max ${max.toFixed(0)} ms`;
    console.log(`${what.padEnd(30)} ${figures}, p99 ${ratio}x, ${times.length} echoes`);
  };
  report("quiet", quiet);
  report(
    "beside 5,000 services",
    await beside(server, () => register(server, { uri: hostile.many, use_http_11: true })),
  );
  report(
    "beside an output of 30 MB",
    await beside(server, async () => {
      await pause(500);
      await large(server);
      await asLong();
    }),
  );
  report(
    "beside endless Sleep commands",
    await beside(server, async () => {
      await post(`${server.ingress}/svc/send/Chatty/run`, "");
      await asLong();
    }),
  );
  hostile.stop();
  await pause(10_000);
  console.log(`memory: at most ${peak.toFixed(0)} MiB, then ${server.rssMiB().toFixed(0)} MiB`);
} finally {
  clearInterval(watch);
  await server.stop();
  endpoint.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
