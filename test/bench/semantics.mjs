// Semantics under load, side by side with the reference server: the same handlers, the same load,
// interleaved rounds, medians. Needs what the reference benchmark installed, and wrk.
//
//   npm run build && node test/bench/semantics.mjs [--only idempotent,workflow] [--rounds 5]
//     [--seconds 5] [--transport h2|h1] [--solo] [--json FILE]
//
// BENCH_CMD starts another server than dist/node.mjs: it gets INGRESS_PORT, ADMIN_PORT and DATA_DIR.
// --solo leaves the reference out. A request of `workflow-c64` is a whole workflow, three requests.
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import * as targets from "./semantics_targets.mjs";

const run = promisify(execFile);
const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "5" },
    transport: { type: "string", default: "h2" },
    solo: { type: "boolean", default: false },
    json: { type: "string" },
  },
});
const rounds = Number(options.rounds), seconds = Number(options.seconds);
if (rounds % 2 !== 1) throw new Error("--rounds is an odd number: a median is one that was seen");
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 2;
const FLOWS = path.join(path.dirname(fileURLToPath(import.meta.url)), "semantics_flows.mjs");

const workloads = {
  "idempotent-c64": wrk(() => ({ path: "call/Semantics/echo", body: '"hi"', keys: "yes" })),
  "awakeable-c64": wrk(({ url }) => ({
    path: "call/Semantics/wait",
    body: JSON.stringify(`${url}/awakeables`),
  })),
  "workflow-c64": async ({ url }, duration) => {
    const args = [FLOWS, url, String(CONNECTIONS), String(duration)];
    return JSON.parse((await run(targets.node, args)).stdout);
  },
};

const lua = path.join(targets.scratch, "load.lua");
fs.writeFileSync(
  lua,
  `
wrk.method = "POST"; wrk.headers["content-type"] = "application/json"
local path, body, keys = os.getenv("LOAD_PATH"), os.getenv("LOAD_BODY"), os.getenv("LOAD_KEYS")
local number, run = 0, os.getenv("LOAD_RUN")
request = function()
  number = number + 1
  if keys == "yes" then wrk.headers["idempotency-key"] = run .. "-" .. number end
  return wrk.format(nil, path, nil, body)
end
done = function(s, l)
  io.write(string.format('RESULT {"requests":%d,"us":%d,"p50":%.3f,"p99":%.3f,"errors":%d}\\n',
    s.requests, s.duration, l:percentile(50)/1000, l:percentile(99)/1000,
    s.errors.connect + s.errors.read + s.errors.write + s.errors.timeout + s.errors.status))
end`,
);

/** One request again and again: what `ask` says of the target. */
function wrk(ask) {
  return async (target, duration) => {
    const { path, body, keys = "no" } = ask(target);
    const { origin, pathname } = new URL(target.url);
    const env = {
      ...process.env,
      LOAD_PATH: `${pathname}/${path}`,
      LOAD_BODY: body,
      LOAD_KEYS: keys,
      LOAD_RUN: `${process.pid}-${Date.now()}`,
    };
    const args = [
      "-t1",
      `-c${CONNECTIONS}`,
      `-d${duration}s`,
      "--timeout",
      "30s",
      "-s",
      lua,
      origin,
    ];
    const { stdout } = await run("wrk", args, { env });
    return JSON.parse(/RESULT (.*)/.exec(stdout)[1]);
  };
}

async function measure(workload, target) {
  const before = targets.cpuUs(target);
  const { requests, us, ...seen } = await workload(target, seconds);
  const cpuUs = (targets.cpuUs(target) - before) / Math.max(1, requests);
  return { rps: requests / (us / 1e6), ...seen, cpuUs, rss: targets.rssMiB(target) };
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

async function compare(workload, all) {
  const seen = new Map(all.map((target) => [target.name, []]));
  for (const target of all) await workload(target, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round++) {
    // In turns: who goes first changes from round to round.
    for (const target of round % 2 ? all.toReversed() : all) {
      seen.get(target.name).push(await measure(workload, target));
    }
  }
  return Object.fromEntries([...seen].map(([name, figures]) => {
    const of = (key) => median(figures.map((one) => one[key]));
    const errors = figures.reduce((total, one) => total + one.errors, 0);
    const keys = ["rps", "p50", "p99", "cpuUs", "rss"];
    return [name, { ...Object.fromEntries(keys.map((key) => [key, of(key)])), errors }];
  }));
}

function print(name, { ours, reference }) {
  const part = (title, { rps, p50, p99, cpuUs, rss, errors }) =>
    `${title}: ${rps.toFixed(0)} rps p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} ms, ` +
    `${cpuUs.toFixed(0)} us cpu/req, ${rss.toFixed(0)} MiB, ${errors} errors`;
  const ratio = (key) => (ours[key] / reference[key]).toFixed(2);
  const parts = [part("ours", ours)];
  if (reference) {
    parts.push(part("reference", reference));
    parts.push(`ratio rps ${ratio("rps")}x cpu ${ratio("cpuUs")}x rss ${ratio("rss")}x`);
  }
  console.log(`${name.padEnd(14)} ${parts.join(" | ")}`);
}

const services = await targets.startServices(options.transport);
const all = [await targets.startTarget("ours", services)];
if (!options.solo) all.push(await targets.startTarget("reference", services));
const report = {};
const only = options.only?.split(",");
for (const [name, workload] of Object.entries(workloads)) {
  if (only && !only.some((prefix) => name.startsWith(prefix))) continue;
  report[name] = await compare(workload, all);
  print(name, report[name]);
}
if (options.json) {
  const { transport } = options;
  fs.writeFileSync(options.json, JSON.stringify({ transport, rounds, seconds, report }, null, 2));
}
targets.stopAll();
process.exit(0);
