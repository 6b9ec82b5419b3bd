// What flow control costs, side by side with the reference server: echoes without a scope, in scopes
// whose limits do not bind, and in three whose limits do: with 64 callers, of 1, 8 and 32 at once.
//
//   npm run build && node test/bench/limits.mjs [--only scoped] [--rounds 3] [--seconds 3]
//     [--transport h2|h1] [--solo]
//
// Prints a line a workload; needs what `semantics.mjs` needs. The unscoped echo runs between the
// others, round by round, so that its CPU time is comparable to theirs.
import { parseArgs } from "node:util";
import { measure, mediansOf, sentence } from "./_compare.mjs";
import * as targets from "./semantics_targets.mjs";
import { wrk } from "./_wrk.mjs";

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "3" },
    transport: { type: "string", default: "h2" },
    solo: { type: "boolean", default: false },
  },
});
const rounds = Number(options.rounds), seconds = Number(options.seconds);
if (rounds % 2 !== 1) throw new Error("--rounds is an odd number: a median is one that was seen");

const echo = (scope, limitKey) =>
  wrk(() => ({
    path: `${scope === undefined ? "" : `scope/${scope}/`}call/Semantics/echo`,
    body: '"hi"',
    connections: 64,
    limitKey,
  }));
const unscoped = echo();
const workloads = {
  "scoped-c64": echo("wide"),
  "keyed-c64": echo("wide", "gold/ada"),
  "binding-1-c64": echo("one"),
  "binding-8-c64": echo("eight"),
  "binding-32-c64": echo("thirty-two"),
};

const FREE = { concurrency: 100_000 };
const rules = [
  { pattern: "wide", limits: FREE },
  { pattern: "wide/*", limits: FREE },
  { pattern: "wide/*/*", limits: FREE },
  { pattern: "one", limits: { concurrency: 1 } },
  { pattern: "eight", limits: { concurrency: 8 } },
  { pattern: "thirty-two", limits: { concurrency: 32 } },
];

async function putRules({ admin }) {
  const answer = await fetch(`${admin}/limits/rules`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(rules),
  });
  if (!answer.ok) throw new Error(`Cannot set rules: ${answer.status} ${await answer.text()}`);
}

/** Medians of the workload and of the unscoped echo beside it, by target. */
async function run(workload, all) {
  const figures = new Map(all.map(({ name }) => [name, { scoped: [], unscoped: [] }]));
  for (const target of all) await unscoped(target, 1), await workload(target, 1);
  for (let round = 0; round < rounds; round++) {
    for (const target of round % 2 ? all.toReversed() : all) {
      const { scoped, unscoped: beside } = figures.get(target.name);
      beside.push(await measure(unscoped, target, seconds));
      scoped.push(await measure(workload, target, seconds));
    }
  }
  const of = (kind) =>
    Object.fromEntries([...figures].map(([name, seen]) => [name, mediansOf(seen[kind])]));
  return { scoped: of("scoped"), beside: of("unscoped") };
}

const services = await targets.startServices(options.transport);
const isFlowControlled = true;
const all = [await targets.startTarget("ours", services, { isFlowControlled })];
if (!options.solo) {
  all.push(await targets.startTarget("reference", services, { isFlowControlled }));
}
for (const target of all) await putRules(target);
const only = options.only?.split(",");
for (const [name, workload] of Object.entries(workloads)) {
  if (only && !only.some((prefix) => name.startsWith(prefix))) continue;
  const { scoped, beside } = await run(workload, all);
  console.log(`${"unscoped-c64".padEnd(14)} ${sentence(beside)}`);
  console.log(`${name.padEnd(14)} ${sentence(scoped)}`);
  for (const { name } of all) {
    const cost = (key) => (scoped[name][key] / beside[name][key]).toFixed(2);
    console.log(`  ${name}: CPU ${cost("cpuUs")}x, requests/s ${cost("rps")}x of unscoped`);
  }
}
targets.stopAll();
process.exit(0);
