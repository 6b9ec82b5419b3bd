// Workflows as fast as they go: submit, signal, attach, one after the other, in so many loops.
// Usage: node semantics_flows.mjs URL LOOPS SECONDS, where URL ends in the path prefix. Prints a
// line of JSON: workflows done, and how long one took in milliseconds.
import http from "node:http";

const [url, loops, seconds] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true, maxSockets: Number(loops) });
const run = `${process.pid}-${Date.now()}`;

const ask = (path, body) =>
  new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": body.length };
    const request = http.request(`${url}/${path}`, { method: "POST", agent, headers });
    request.once("response", (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode));
    });
    request.once("error", reject);
    request.end(body);
  });

async function workflow(key) {
  const target = { target: "workflow", workflowName: "SemanticsFlow", workflowKey: key };
  const submitted = await ask(`send/SemanticsFlow/${key}/run`, "0");
  const signaled = await ask(`call/SemanticsFlow/${key}/go`, "1");
  const attached = await ask("attach", JSON.stringify(target));
  return submitted === 202 && signaled === 200 && attached === 200;
}

const times = [];
let errors = 0, number = 0;
const began = performance.now();
const end = began + Number(seconds) * 1000;
await Promise.all(Array.from({ length: Number(loops) }, async () => {
  while (performance.now() < end) {
    const start = performance.now();
    if (!await workflow(`${run}-${number++}`).catch(() => false)) errors++;
    times.push(performance.now() - start);
  }
}));
agent.destroy();
times.sort((a, b) => a - b);
const at = (part) => times[Math.floor(times.length * part)] ?? 0;
const us = (performance.now() - began) * 1000;
console.log(JSON.stringify({ requests: times.length, us, p50: at(0.5), p99: at(0.99), errors }));
