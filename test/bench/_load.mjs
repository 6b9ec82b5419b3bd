// A closed loop of requests over keep-alive connections, and what it saw.
import http from "node:http";

/** `path(i)` names the i-th request. Answers requests per second and latencies in milliseconds. */
export async function load(base, { path, body, connections, seconds }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const end = performance.now() + seconds * 1000;
  const began = performance.now();
  const times = [];
  let errors = 0, next = 0;
  const one = () =>
    new Promise((resolve) => {
      const start = performance.now();
      const headers = { "content-type": "application/json", "content-length": body.length };
      const request = http.request(base + path(next++), { method: "POST", agent, headers });
      request.once("response", (response) => {
        if (response.statusCode >= 300) errors++;
        response.resume();
        response.once("end", () => (times.push(performance.now() - start), resolve()));
      });
      request.once("error", () => (errors++, resolve()));
      request.end(body);
    });
  await Promise.all(Array.from({ length: connections }, async () => {
    while (performance.now() < end) await one();
  }));
  agent.destroy();
  times.sort((a, b) => a - b);
  const at = (part) => times[Math.floor(times.length * part)] ?? 0;
  const rps = times.length / ((performance.now() - began) / 1000);
  return { rps, p50: at(0.5), p99: at(0.99), errors };
}
