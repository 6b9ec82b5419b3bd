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
import http2 from "node:http2";
import os from "node:os";
import path from "node:path";
import { freePort, startEndpoint, startServer } from "./_process.mjs";

const at = process.argv.indexOf("--seconds");
const seconds = at < 0 ? 5 : Number(process.argv[at + 1]);
const EVERY_MS = 10;
const OUTPUT_BYTES = 30 * 1024 * 1024;
const SERVICES = 5_000;

const frame = (type, body) => {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(type, 0);
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
};
const varint = (value) => {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push(value % 128 + 128);
  return Buffer.from([...bytes, value]);
};
const field = (number, bytes) =>
  Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
const number = (at, value) => Buffer.concat([varint(at * 8), varint(value)]);
const sleepCommand = (completion) =>
  frame(0x040c, Buffer.concat([number(1, 4_000_000_000_000), number(11, completion)]));
const output = frame(0x0401, field(14, field(1, Buffer.alloc(OUTPUT_BYTES, "x"))));
const end = frame(0x0003, Buffer.alloc(0));

/** Serves `Chatty/run`, which never stops, and `Large/run`. `stop` ends the streams of the first. */
async function startHostile() {
  const chatty = new Set();
  const services = ["Chatty", "Large"].map((name) => ({
    name,
    ty: "SERVICE",
    handlers: [{ name: "run" }],
  }));
  const server = http2.createServer().on("stream", (stream, headers) => {
    stream.on("error", () => {}).on("close", () => chatty.delete(stream)).resume();
    const isDiscovery = headers[":path"].endsWith("/discover");
    const type = isDiscovery
      ? "application/vnd.restate.endpointmanifest.v3+json"
      : headers["content-type"];
    stream.respond({ ":status": 200, "content-type": type });
    if (isDiscovery) return stream.end(manifest(services, "BIDI_STREAM"));
    if (headers[":path"].includes("/Large/")) return stream.write(output), stream.end(end);
    chatty.add(stream);
    let completion = 0;
    const more = () => {
      if (!chatty.has(stream)) return;
      const frames = Array.from({ length: 500 }, () => sleepCommand(++completion));
      if (stream.write(Buffer.concat(frames))) setImmediate(more);
      else stream.once("drain", more);
    };
    more();
  });
  const port = await freePort();
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  const stop = () => [...chatty].forEach((stream) => (chatty.delete(stream), stream.close(8)));
  return { url: `http://127.0.0.1:${port}`, stop };
}

const manifest = (services, protocolMode) =>
  JSON.stringify({ protocolMode, minProtocolVersion: 5, maxProtocolVersion: 6, services });

/** Serves the manifest of many services. */
async function startMany() {
  const handlers = [{ name: "run" }];
  const services = Array.from({ length: SERVICES }, (_, i) => ({
    name: `Many${i}`,
    ty: "SERVICE",
    handlers,
  }));
  const body = manifest(services, "REQUEST_RESPONSE");
  const port = await freePort();
  const type = "application/vnd.restate.endpointmanifest.v3+json";
  await new Promise((resolve) =>
    http.createServer((_, response) => {
      response.writeHead(200, { "content-type": type });
      response.end(body);
    }).listen(port, "127.0.0.1", resolve)
  );
  return `http://127.0.0.1:${port}`;
}

const json = { "content-type": "application/json" };
const post = (url, body) => fetch(url, { method: "POST", headers: json, body });

async function register(server, body) {
  const answer = await post(`${server.admin}/deployments`, JSON.stringify(body));
  if (!answer.ok) throw new Error(`Registration answered ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

/** Echoes at a fixed rate until `isOver`. Answers latencies in milliseconds, sorted. */
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
const [endpoint, hostile, many] = [await startEndpoint(), await startHostile(), await startMany()];
const server = await startServer(folder);
let peak = 0;
const watch = setInterval(() => peak = Math.max(peak, server.rssMiB()), 50);
try {
  await register(server, { uri: endpoint.url });
  await register(server, { uri: hostile.url });
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
    await beside(server, () => register(server, { uri: many, use_http_11: true })),
  );
  report(
    "beside an output of 30 MB",
    await beside(server, async () => {
      await pause(500);
      await (await post(`${server.ingress}/svc/call/Large/run`, "")).arrayBuffer();
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
