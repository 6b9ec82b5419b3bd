// What HTTP and two synchronous commits cost by themselves on this machine: a floor for our figures.
//
// It takes a call, writes a row, passes the call on over HTTP/2, hears the output, writes a row and
// answers. Commits are grouped, one is in flight, and each is on disk. Nothing else: no engine, no
// journal, no tables, no retries, nothing is read again. Run it in the place of a server:
//
//   BENCH_CMD='node test/bench/floor.mjs' node run.mjs --only null-c64,echo-c1,echo-c64,echo-c256
//
// It gets INGRESS_PORT, ADMIN_PORT and DATA_DIR, and takes the first endpoint that registers for all
// services but "Null", which is at the second.
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import { createRequire } from "node:module";
import process from "node:process";
import { setImmediate } from "node:timers";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

const JSON_TYPE = { "content-type": "application/json" };
const PROTOCOL = "application/vnd.restate.invocation.v5";
const START = 0x0000, END = 0x0003, INPUT = 0x0400, OUTPUT = 0x0401;
const HEAD_BYTES = 8;

if (isMainThread) serve(process.env);
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

function serve({ INGRESS_PORT, ADMIN_PORT, DATA_DIR }) {
  mkdirSync(DATA_DIR, { recursive: true });
  const commit = committer(`${DATA_DIR}/floor.db`);
  const sessions = [];
  http.createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on(
      "end",
      () => call({ request, response, body: Buffer.concat(chunks), commit, sessions }),
    );
  }).listen(Number(INGRESS_PORT), "127.0.0.1");
  http.createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method === "POST") sessions.push(http2.connect(JSON.parse(chunks.join("")).uri));
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

function call({ request, response, body, commit, sessions }) {
  const [, , , service, handler] = request.url.split("/");
  const idBytes = randomBytes(24);
  const id = `inv_1${idBytes.toString("hex").slice(0, 33)}`;
  const target = { service, handler };
  const accepted = { id, target, status: "invoked", body: body.toString("base64") };
  commit(JSON.stringify(accepted), () => {
    const stream = sessions.at(service === "Null" ? 1 : 0).request({
      ":method": "POST",
      ":path": `/invoke/${service}/${handler}`,
      "content-type": PROTOCOL,
      accept: PROTOCOL,
    });
    stream.on("error", () => response.destroy());
    stream.write(Buffer.concat([start(idBytes, id), frame(INPUT, field(14, field(1, body)))]));
    hear(stream, (output) => {
      stream.end();
      commit(JSON.stringify({ id, status: "completed", output: output.toString("base64") }), () => {
        response.writeHead(200, { ...JSON_TYPE, "x-svc-id": id }).end(output);
      });
    });
  });
}

/** Calls with the value of the output when the end is heard. */
function hear(stream, then) {
  let heard = Buffer.alloc(0);
  let isOver = false;
  stream.on("data", (chunk) => {
    heard = heard.length === 0 ? chunk : Buffer.concat([heard, chunk]);
    let output;
    for (let at = 0; !isOver && at + HEAD_BYTES <= heard.length;) {
      const type = heard.readUInt16BE(at), to = at + HEAD_BYTES + heard.readUInt32BE(at + 4);
      if (to > heard.length) return;
      if (type === OUTPUT) output = valueOf(heard.subarray(at + HEAD_BYTES, to));
      if (type === END) isOver = true;
      at = to;
    }
    if (isOver && output) then(output);
  });
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

function start(idBytes, id) {
  const known = Buffer.from([3 << 3, 1, 5 << 3, 1]);
  return frame(START, Buffer.concat([field(1, idBytes), field(2, Buffer.from(id)), known]));
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
