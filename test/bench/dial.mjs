// What one exchange with an endpoint costs the client: `src/http2` beside `node:http2`, in turns.
//   node test/bench/dial.mjs [exchanges a round] [rounds]
// CPU time of this process, all threads, in microseconds for an exchange; the endpoint is another
// process. Medians compare within one run only.
import { spawn } from "node:child_process";
import http2 from "node:http2";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { openDial } from "./_dial.mjs";

const TYPE = "application/vnd.restate.invocation.v6";
/** About as large as the beginning of an attempt, and its output. */
const START = new Uint8Array(160), OUTPUT = new Uint8Array(40);
const median = (figures) => figures.sort((a, b) => a - b)[figures.length >> 1];
let ids = 0;
const headers = () => ({ "content-type": TYPE, accept: TYPE, "x-id": `inv_${1e15 + ids++}` });

if (process.argv[2] === "--endpoint") serve();
else await measure(Number(process.argv[2] ?? 10_000), Number(process.argv[3] ?? 5));

/** Answers once it has read something, as an SDK does. */
function serve() {
  const server = http2.createServer();
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    stream.once("data", () => {
      stream.respond({ ":status": 200, "content-type": TYPE });
      stream.end(OUTPUT);
    });
  });
  server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
}

async function measure(exchanges, rounds) {
  const folder = mkdtempSync(path.join(tmpdir(), "dial-bench-"));
  const endpoint = spawn(process.execPath, [import.meta.filename, "--endpoint"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const port = Number(await new Promise((resolve) => endpoint.stdout.once("data", resolve)));
    const origin = `http://127.0.0.1:${port}`;
    const clients = { "src/http2": await ours(origin, folder), "node:http2": nodes(origin) };
    for (const atOnce of [1, 64]) await compare(clients, { exchanges, rounds, atOnce });
    for (const { close } of Object.values(clients)) close();
  } finally {
    endpoint.kill();
    rmSync(folder, { recursive: true });
  }
}

async function compare(clients, { exchanges, rounds, atOnce }) {
  // One at a time is slow.
  const count = atOnce === 1 ? Math.ceil(exchanges / 10) : exchanges;
  const seen = Object.fromEntries(Object.keys(clients).map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (const [name, { exchange }] of Object.entries(clients)) {
      const cpu = process.cpuUsage(), begun = performance.now();
      await inParallel(exchange, count, atOnce);
      const { user, system } = process.cpuUsage(cpu);
      const figures = [(user + system) / count, count / (performance.now() - begun) * 1000];
      // The first round warms up.
      if (round >= 0) seen[name].push(figures);
    }
  }
  for (const [name, all] of Object.entries(seen)) {
    const [cpu, rate] = [0, 1].map((i) => median(all.map((one) => one[i])));
    console.log(
      `${name}, ${atOnce} at once: ${cpu.toFixed(1)} µs CPU, ${rate.toFixed(0)} a second`,
    );
  }
}

async function inParallel(exchange, count, atOnce) {
  let left = count;
  const one = async () => {
    while (left-- > 0) await exchange();
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** The client of attempts, as the server has it. */
async function ours(origin, folder) {
  const dial = await openDial(folder);
  const request = {
    url: `${origin}/invoke`,
    method: "POST",
    version: "h2",
    connectTimeoutMs: 5000,
  };
  const exchange = () =>
    new Promise((resolve, reject) => {
      const open = dial.open({ ...request, headers: headers() }, {
        head() {},
        chunk: () => open.end(),
        end: resolve,
        failed: ({ message }) => reject(new Error(message)),
        drain() {},
      });
      open.write(START);
    });
  return { exchange, close: () => void dial.close() };
}

/** One session and raw streams. */
function nodes(origin) {
  const session = http2.connect(origin);
  const exchange = () =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ...headers(), ":method": "POST", ":path": "/invoke" });
      stream.on("data", () => stream.end());
      stream.once("end", resolve);
      stream.once("error", reject);
      stream.write(START);
    });
  return { exchange, close: () => session.close() };
}
