// Semantics under load, side by side with the reference server: the same handlers, the same load,
// interleaved rounds, medians. Needs what the reference benchmark installed, and wrk.
//
//   npm run build && node test/bench/semantics.mjs [--only idempotent,workflow] [--rounds 5]
//     [--seconds 5] [--transport h2|h1] [--solo] [--json FILE]
//
// BENCH_CMD starts another server than dist/node.mjs: it gets INGRESS_PORT, ADMIN_PORT and DATA_DIR.
// --solo leaves the reference out. A request of `workflow-c64` is a whole workflow, three requests.
// Rows with a size have values of so many KiB: what is echoed, the result of each of three steps, or the
// state of one of 2,000 objects, which each call reads and writes anew.
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { compare, sentence } from "./_compare.mjs";
import * as targets from "./semantics_targets.mjs";
import { wrk } from "./_wrk.mjs";

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
const FLOWS = path.join(path.dirname(fileURLToPath(import.meta.url)), "semantics_flows.mjs");

const workloads = {
  "idempotent-c64": wrk(() => ({
    path: "call/Semantics/echo",
    body: '"hi"',
    hasKeys: true,
    connections: CONNECTIONS,
  })),
  "awakeable-c64": wrk(({ url }) => ({
    path: "call/Semantics/wait",
    body: JSON.stringify(`${url}/awakeables`),
    connections: CONNECTIONS,
  })),
  "workflow-c64": async ({ url }, duration) => {
    const args = [FLOWS, url, String(CONNECTIONS), String(duration)];
    return JSON.parse((await run(targets.node, args)).stdout);
  },
};

const KIB = 1024;
const OBJECTS = 2_000;
for (const [size, connections] of [[1, 64], [4, 64], [16, 16], [64, 16]]) {
  const body = String(size * KIB);
  Object.assign(workloads, {
    [`echo-${size}k-c${connections}`]: wrk(() => ({
      path: "call/Semantics/echo",
      body: JSON.stringify("x".repeat(size * KIB)),
      connections,
    })),
    [`steps-${size}k-c${connections}`]: wrk(() => ({
      path: "call/Sized/steps",
      body,
      connections,
    })),
    [`state-${size}k-c${connections}`]: wrk(() => ({
      path: "call/Document/KEY/edit",
      body,
      connections,
      objects: OBJECTS,
    })),
  });
}

const services = await targets.startServices(options.transport);
const all = [await targets.startTarget("ours", services)];
if (!options.solo) all.push(await targets.startTarget("reference", services));
const report = {};
const only = options.only?.split(",");
for (const [name, workload] of Object.entries(workloads)) {
  if (only && !only.some((prefix) => name.startsWith(prefix))) continue;
  report[name] = await compare(workload, all, { rounds, seconds });
  console.log(`${name.padEnd(14)} ${sentence(report[name])}`);
}
if (options.json) {
  const { transport } = options;
  fs.writeFileSync(options.json, JSON.stringify({ transport, rounds, seconds, report }, null, 2));
}
targets.stopAll();
process.exit(0);
