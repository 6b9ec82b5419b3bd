// Workflows as fast as they go: submit, signal, attach, one after the other, in so many loops.
// Usage: node semantics_flows.mjs URL LOOPS SECONDS, where URL ends in the path prefix. Prints a
// line of JSON: workflows done, and how long one took in milliseconds.
import { Caller } from "./_caller.mjs";

const [url, loops, seconds] = process.argv.slice(2);
const { origin, pathname } = new URL(url);
const run = `${process.pid}-${Date.now()}`;

async function workflow(caller, key) {
  const target = { target: "workflow", workflowName: "SemanticsFlow", workflowKey: key };
  const submitted = await caller.post(`${pathname}/send/SemanticsFlow/${key}/run`, "0");
  const signaled = await caller.post(`${pathname}/call/SemanticsFlow/${key}/go`, "1");
  const attached = await caller.post(`${pathname}/attach`, JSON.stringify(target));
  return submitted === 202 && signaled === 200 && attached === 200;
}

const times = [];
let errors = 0, number = 0;
const began = performance.now();
const end = began + Number(seconds) * 1000;
await Promise.all(Array.from({ length: Number(loops) }, async () => {
  let caller = new Caller(origin);
  while (performance.now() < end) {
    const start = performance.now();
    const isDone = await workflow(caller, `${run}-${number++}`).catch(() => false);
    if (!isDone) {
      errors++;
      caller.close();
      caller = new Caller(origin);
    }
    times.push(performance.now() - start);
  }
  caller.close();
}));
times.sort((a, b) => a - b);
const at = (part) => times[Math.floor(times.length * part)] ?? 0;
const us = (performance.now() - began) * 1000;
console.log(JSON.stringify({ requests: times.length, us, p50: at(0.5), p99: at(0.99), errors }));
