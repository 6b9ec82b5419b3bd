// What a server takes when little is asked of it: its start on an empty folder up to the first answered
// call, an idle one, and callers that wait.
//
//   npm run build && node test/bench/footprint.mjs [--only start,idle,callers] [--rounds 9] [--seconds 60]
//     [--streams 100000] [--connections 14000] [--node another/node]
//
// Prints a line each. Callers over HTTP/1.1 need two file descriptors each, here and in the server.
import fs from "node:fs";
import http2 from "node:http2";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { post, startEndpoint, startServer, until } from "./_process.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "start,idle,callers" },
    rounds: { type: "string", default: "9" },
    seconds: { type: "string", default: "60" },
    streams: { type: "string", default: "100000" },
    connections: { type: "string", default: "14000" },
    node: { type: "string", default: process.execPath },
  },
});
const [rounds, seconds, streams, connections] = ["rounds", "seconds", "streams", "connections"]
  .map((name) => Number(values[name]));
/** A server's limit of HTTP/2 streams on one connection. */
const STREAMS_OF_ONE = 200;
/** Calls that are begun before the earlier ones wait. */
const AT_ONCE = 500;
const HEAP = new URL("_heap.mjs", import.meta.url).href;
const BODY = '"x"';
const TYPE = "application/json";

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Runs `act` with a server over an empty folder that knows `endpoint`. */
async function withServer(endpoint, act, flags = []) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "footprint-"));
  const began = performance.now();
  const heapFile = path.join(folder, "heap.json");
  const server = await startServer(folder, { HEAP_FILE: heapFile }, [values.node, ...flags]);
  await post(`${server.admin}/deployments`, JSON.stringify({ uri: endpoint.url }));
  await act(server, { began, heapFile });
  await server.stop();
  fs.rmSync(folder, { recursive: true });
}

async function start(endpoint) {
  const [healthy, answered] = [[], []];
  for (let round = 0; round < rounds; round++) {
    await withServer(endpoint, async (server, { began }) => {
      await post(`${server.ingress}/Null/echo`, BODY);
      answered.push(performance.now() - began);
      healthy.push(server.bootMs);
    });
  }
  const [all, boot] = [median(answered), median(healthy)].map((ms) => ms.toFixed(0));
  const [least, most] = [answered[0], answered.at(-1)].map((ms) => ms.toFixed(0));
  console.log(`start: healthy after ${boot} ms, a registered endpoint's first call answered after`);
  console.log(`  ${all} ms (${least} to ${most})`);
}

async function idle(endpoint) {
  await withServer(endpoint, async (server) => {
    await sleep(10_000);
    const before = server.cpuMs();
    await sleep(1000 * seconds);
    const percent = (server.cpuMs() - before) / (10 * seconds);
    console.log(`idle: ${percent.toFixed(2)} % of a core, ${server.rssMiB().toFixed(0)} MiB`);
  });
}

/** Opens `count` calls that wait, and prints what each takes. `open`: begins one. */
async function waiting(name, endpoint, { count, open }) {
  await withServer(endpoint, async (server, { heapFile }) => {
    await post(`${server.ingress}/Null/echo`, BODY);
    const before = await collected(server, heapFile);
    for (let opened = 0; opened < count;) {
      const until = Math.min(count, opened + AT_ONCE);
      while (opened < until) open(server, opened++);
      await suspended(server, opened);
    }
    const after = await collected(server, heapFile);
    const [each, resident] = ["heap", "resident"]
      .map((what) => (after[what] - before[what]) * 1024 / count);
    const calls = [];
    for (let call = 0; call < 50; call++) {
      const began = performance.now();
      await post(`${server.ingress}/Null/echo`, BODY);
      calls.push(performance.now() - began);
    }
    console.log(`callers: ${count} over ${name} take ${each.toFixed(1)} KiB of heap each and`);
    console.log(
      `  ${resident.toFixed(1)} resident; another call takes ${median(calls).toFixed(1)} ms, ${
        calls.at(-1).toFixed(0)
      } at most`,
    );
  }, ["--expose-gc", "--import", HEAP]);
}

/** MiB of memory after a collection of garbage: of the heap with its buffers, and resident. */
async function collected(server, heapFile) {
  fs.rmSync(heapFile, { force: true });
  process.kill(server.pid, "SIGUSR2");
  await until("the heap", async () => fs.existsSync(heapFile));
  const { heapUsed, external } = JSON.parse(fs.readFileSync(heapFile, "utf8"));
  return { heap: (heapUsed + external) / 1024 ** 2, resident: server.rssMiB() };
}

/** Waits until as many invocations are suspended. */
async function suspended({ admin }, count) {
  const query = "select count(*) as n from sys_invocation where status = 'suspended'";
  await until("calls that wait", async () => {
    const answer = await post(`${admin}/query`, JSON.stringify({ query }), TYPE);
    const { rows: [{ n }] } = JSON.parse(answer);
    return n >= count;
  });
}

function connected(ingress) {
  return http2.connect(ingress).on("error", () => {});
}

function streamCaller() {
  const sessions = [];
  return {
    open({ ingress }, at) {
      const session = sessions[Math.floor(at / STREAMS_OF_ONE)] ??= connected(ingress);
      const headers = { ":method": "POST", ":path": "/Null/wait", "content-type": TYPE };
      const stream = session.request(headers);
      stream.on("error", () => {});
      stream.end(BODY);
    },
    close: () => sessions.forEach((session) => session.destroy()),
  };
}

function socketCaller() {
  const sockets = [];
  return {
    open({ ingress }) {
      const { hostname, port, host } = new URL(ingress);
      const socket = net.connect(Number(port), hostname);
      socket.on("error", () => {});
      sockets.push(socket);
      const head = `POST /Null/wait HTTP/1.1\r\nhost: ${host}\r\ncontent-type: ${TYPE}\r\n`;
      socket.write(`${head}content-length: ${BODY.length}\r\n\r\n${BODY}`);
    },
    close: () => sockets.forEach((socket) => socket.destroy()),
  };
}

async function callers(endpoint) {
  const kinds = [["HTTP/2", streams, streamCaller], ["HTTP/1.1", connections, socketCaller]];
  for (const [name, count, caller] of kinds) {
    if (count === 0) continue;
    const { open, close } = caller();
    await waiting(name, endpoint, { count, open });
    close();
  }
}

const programs = { start, idle, callers };
const endpoint = await startEndpoint();
for (const name of values.only.split(",")) await programs[name](endpoint);
endpoint.stop();
