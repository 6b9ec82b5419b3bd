// Sends that are all due within a minute: how late do they start, beyond what the endpoint allows?
//
//   npm run build && node test/bench/timers.mjs [--timers 1000000] [--window 60]
//
// Prints the pace at which sends without a delay start, which is what endpoint and server allow together,
// the pace of those that were due, how much later each started than it would at the first pace, and how long
// calls take meanwhile.
import fs from "node:fs";
import http2 from "node:http2";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Caller } from "./_caller.mjs";
import { post, startEndpoint, startServer, until } from "./_process.mjs";

const { values } = parseArgs({
  options: {
    timers: { type: "string", default: "1000000" },
    window: { type: "string", default: "60" },
  },
});
const [timers, windowMs] = [Number(values.timers), 1000 * Number(values.window)];
/** Sends whose pace is measured first. */
const AT_ONCE = 50_000;
/** Sends that a second can take, so that no timer is due before all are there. */
const SENDS_PER_MS = 2;
const CONNECTIONS = 64;

/** Makes `count` sends, each with what `delayMs` says. Answers how many milliseconds it took. */
async function sendAll(server, count, delayMs) {
  const began = performance.now();
  let next = 0;
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    const caller = new Caller(server.ingress);
    while (next < count) {
      const ms = delayMs(next++);
      const body = JSON.stringify({ due: Date.now() + ms });
      const status = await caller.post(`/Null/due/send${ms > 0 ? `?delay=${ms}ms` : ""}`, body);
      if (status !== 202) throw new Error(`A send was answered with ${status}`);
    }
    caller.close();
  }));
  return performance.now() - began;
}

/** What the endpoint has noted since the last time. */
async function noted(session) {
  const stream = session.request({ ":path": "/noted" });
  let text = "";
  for await (const part of stream.setEncoding("utf8")) text += part;
  return JSON.parse(text);
}

/** Waits until the endpoint has noted `count` starts, and answers them. */
async function starts(session, count) {
  const all = [];
  await until("all starts", async () => {
    all.push(...await noted(session));
    return all.length >= count;
  }, 1_800_000);
  return all;
}

/** How much later than at `perMs` each started, in milliseconds, in order. */
function beyond(all, perMs) {
  let free = 0;
  const late = all.toSorted(([a], [b]) => a - b).map(([due]) =>
    free = Math.max(due, free + 1 / perMs)
  );
  const started = all.map(([, at]) => at).sort((a, b) => a - b);
  return started.map((at, i) => at - late[i]).sort((a, b) => a - b);
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "timers-"));
const endpoint = await startEndpoint();
const server = await startServer(folder, { SVC_DEFAULT_JOURNAL_RETENTION: "0s" });
await post(`${server.admin}/deployments`, JSON.stringify({ uri: endpoint.url }));
const session = http2.connect(endpoint.url);

// All wait for one time, so that they start without the load that sends them.
const leadMs = AT_ONCE / SENDS_PER_MS, due = Date.now() + leadMs;
await sendAll(server, AT_ONCE, () => Math.max(1, due - Date.now()));
const first = (await starts(session, AT_ONCE)).map(([, at]) => at).sort((a, b) => a - b);
const perMs = AT_ONCE / (first.at(-1) - first[0]);
console.log(`${AT_ONCE} that are due at once start at ${(1000 * perMs).toFixed(0)} a second`);

const begin = Date.now() + timers / SENDS_PER_MS;
const tookMs = await sendAll(
  server,
  timers,
  () => Math.max(1, Math.round(begin + Math.random() * windowMs - Date.now())),
);
console.log(
  `${timers} were sent in ${(tookMs / 1000).toFixed(0)} s, ${server.rssMiB().toFixed(0)} MiB`,
);
// Meanwhile somebody calls, one call after the other.
const calls = [];
const caller = new Caller(server.ingress);
let isOver = false;
const calling = (async () => {
  while (!isOver) {
    const began = performance.now();
    if (await caller.post("/Null/echo", '"x"') === 200) calls.push(performance.now() - began);
    await sleep(50);
  }
})();
const all = await starts(session, timers);
isOver = true;
await calling;
const times = all.map(([, at]) => at).sort((a, b) => a - b);
const late = beyond(all, perMs);
const at = (share) => late[Math.min(late.length - 1, Math.floor(share * late.length))].toFixed(0);
const pace = 1000 * timers / (times.at(-1) - times[0]);
console.log(
  `they started at ${pace.toFixed(0)} a second, ${server.rssMiB().toFixed(0)} MiB; later`,
);
console.log(`  than that pace allows: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${at(1)} ms`);
calls.sort((a, b) => a - b);
const [half, most] = [0.5, 0.99].map((share) => calls[Math.floor(share * calls.length)].toFixed(0));
console.log(`calls beside them: ${calls.length}, p50 ${half} ms, p99 ${most} ms`);
session.destroy();
await server.stop();
endpoint.stop();
fs.rmSync(folder, { recursive: true });
