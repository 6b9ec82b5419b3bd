// What HTTP and two synchronous commits cost by themselves on this machine: a floor for our figures.
//
// It takes a call or a send, writes a row, passes it on over HTTP/2 by the server's own client, hears the
// output, writes a row and answers; a send is answered after the first row. Commits are grouped, one is in
// flight, and each is on disk. Calls of one object go one after another, each once the last one's output is
// on disk. Nothing else: no engine, no journal, no state, no retries, nothing is read again, and no step or
// sleep of a handler. Run it in the place of a server:
//
//   BENCH_CMD='node test/bench/floor.mjs' node run.mjs --only null-c64,echo-c1,echo-c64,counter-c64,send-c64
//
// It gets INGRESS_PORT, ADMIN_PORT and DATA_DIR, and takes the first endpoint that registers for all
// services but "Null", which is at the second.
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { setImmediate } from "node:timers";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { openDial } from "./_dial.mjs";

const JSON_TYPE = { "content-type": "application/json" };
const PROTOCOL = "application/vnd.restate.invocation.v5";
const START = 0x0000, END = 0x0003, INPUT = 0x0400, OUTPUT = 0x0401;
const HEAD_BYTES = 8;

if (isMainThread) await serve(process.env);
else write(workerData);

/** The thread that owns the database: a row for each message, on disk when it is answered. */
function write(file) {
  const Database = createRequire(import.meta.url)("libsql");
  const database = new Database(file);
  database.pragma("journal_mode = wal");
  database.pragma("synchronous = full");
  database.exec("create table if not exists log (place integer primary key, rows text)");
  const insert = database.prepare("insert into log (rows) values (?)");
  parentPort.on("message", (rows) => {
    insert.run(rows);
    parentPort.postMessage(true);
  });
}

async function serve({ INGRESS_PORT, ADMIN_PORT, DATA_DIR }) {
  mkdirSync(DATA_DIR, { recursive: true });
  const commit = committer(`${DATA_DIR}/floor.db`);
  const [endpoints, lines] = [[], new Map()];
  const folder = mkdtempSync(path.join(tmpdir(), "floor-"));
  const dial = await openDial(folder);
  rmSync(folder, { recursive: true });
  http.createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on(
      "end",
      () =>
        call({ request, response, body: Buffer.concat(chunks), commit, dial, endpoints, lines }),
    );
  }).listen(Number(INGRESS_PORT), "127.0.0.1");
  http.createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method === "POST") endpoints.push(JSON.parse(chunks.join("")).uri);
      response.writeHead(request.method === "POST" ? 201 : 200, JSON_TYPE).end("{}");
    });
  }).listen(Number(ADMIN_PORT), "127.0.0.1");
}

/** Writes a row, and calls when it is on disk. What comes while a commit is in flight goes together. */
function committer(file) {
  const worker = new Worker(new URL(import.meta.url), { workerData: file });
  let gathered, inFlight;
  const flush = () => {
    if (inFlight || !gathered) return;
    [inFlight, gathered] = [gathered, undefined];
    worker.postMessage(inFlight.rows.join(","));
  };
  worker.on("message", () => {
    const { calls } = inFlight;
    inFlight = undefined;
    for (const one of calls) one();
    flush();
  });
  return (row, then) => {
    if (!gathered) setImmediate(flush);
    gathered ??= { rows: [], calls: [] };
    gathered.rows.push(row);
    gathered.calls.push(then);
  };
}

function call({ request, response, body, commit, dial, endpoints, lines }) {
  const [, , way, service, ...rest] = request.url.split("/");
  const [key, handler] = rest.length > 1 ? rest : [undefined, ...rest];
  const idBytes = randomBytes(24);
  const id = `inv_1${idBytes.toString("hex").slice(0, 33)}`;
  const accepted = { id, target: { service, key, handler }, status: "invoked" };
  const answer = (status, bytes) =>
    response.writeHead(status, { ...JSON_TYPE, "x-svc-id": id }).end(bytes);
  commit(JSON.stringify({ ...accepted, body: body.toString("base64") }), () => {
    if (way === "send") answer(202, JSON.stringify({ invocationId: id, status: "Accepted" }));
    const url = `${endpoints.at(service === "Null" ? 1 : 0)}/invoke/${service}/${handler}`;
    const messages = [start(idBytes, id, key), frame(INPUT, field(14, field(1, body)))];
    const begin = () =>
      attempt({ dial, url, messages, failed: () => response.destroy() }, (output) => {
        const completed = { id, status: "completed", output: output.toString("base64") };
        commit(JSON.stringify(completed), () => {
          if (key !== undefined) leave(lines, key);
          if (way !== "send") answer(200, output);
        });
      });
    if (key === undefined) begin();
    else enter(lines, key, begin);
  });
}

/** Begins a call of an object, or has it wait behind another one. */
function enter(lines, key, begin) {
  const line = lines.get(key);
  if (line) return line.push(begin);
  lines.set(key, []);
  begin();
}

/** A call of an object is over: the next one begins. */
function leave(lines, key) {
  const next = lines.get(key).shift();
  if (next) next();
  else lines.delete(key);
}

/** Sends the messages, and calls with the value of the output when the end is heard. */
function attempt({ dial, url, messages, failed }, then) {
  const chunks = [];
  let isOver = false;
  const open = dial.open({
    url,
    method: "POST",
    version: "h2",
    connectTimeoutMs: 5000,
    headers: { "content-type": PROTOCOL, accept: PROTOCOL },
  }, {
    head() {},
    chunk(chunk) {
      // The client reads into the same bytes again.
      chunks.push(Buffer.from(chunk));
      const output = isOver ? undefined : outputOf(Buffer.concat(chunks));
      if (!output) return;
      isOver = true;
      open.end();
      then(output);
    },
    end() {},
    failed,
    drain() {},
  });
  open.write(Buffer.concat(messages));
}

/** The value of the output, once the end was heard. */
function outputOf(heard) {
  let output;
  for (let at = 0; at + HEAD_BYTES <= heard.length;) {
    const type = heard.readUInt16BE(at), to = at + HEAD_BYTES + heard.readUInt32BE(at + 4);
    if (to > heard.length) return undefined;
    if (type === OUTPUT) output = valueOf(heard.subarray(at + HEAD_BYTES, to));
    if (type === END) return output;
    at = to;
  }
  return undefined;
}

/** Of an output message: the bytes within the value within it. */
function valueOf(message) {
  let rest = message;
  for (let depth = 0; depth < 2; depth++) {
    let at = 1, size = 0;
    for (let shift = 0;; shift += 7) {
      size |= (rest[at] & 0x7f) << shift;
      if (rest[at++] < 0x80) break;
    }
    rest = rest.subarray(at, at + size);
  }
  return rest;
}

/** All state is known, and there is none. */
function start(idBytes, id, key = "") {
  const known = Buffer.from([3 << 3, 1]);
  const named = [field(1, idBytes), field(2, Buffer.from(id)), known, field(6, Buffer.from(key))];
  return frame(START, Buffer.concat(named));
}

function field(number, bytes) {
  const size = [];
  for (let rest = bytes.length;; rest >>>= 7) {
    size.push(rest > 0x7f ? rest & 0x7f | 0x80 : rest);
    if (rest <= 0x7f) break;
  }
  return Buffer.concat([Buffer.from([number << 3 | 2, ...size]), bytes]);
}

function frame(type, body) {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt16BE(type);
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}
