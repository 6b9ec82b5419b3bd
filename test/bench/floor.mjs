// What HTTP and synchronous commits cost by themselves on this machine: a floor for our figures.
//
// It takes a call or a send, writes a row, passes it on over HTTP/2 by the server's own client, hears the
// output, writes a row and answers; a send is answered after the first row. The result of a step, a sleep
// and its end, and a call of a handler and its output are a row each. Commits are grouped, one is in flight,
// and each is on disk. Calls of one object go one after another, each once the last one's output is on disk.
// Nothing else: no engine, no journal, no state, no retries, no keys of idempotency, and nothing is read
// again. Run it in the place of a server:
//
//   BENCH_CMD='node test/bench/floor.mjs' node run.mjs --only null-c64,echo-c1,echo-c64,steps3-c64
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
import { setImmediate, setTimeout } from "node:timers";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { openDial } from "./_dial.mjs";
import * as wire from "./_floor_wire.mjs";

const JSON_TYPE = { "content-type": "application/json" };

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

function call({ request, response, body, ...server }) {
  const [, , way, service, ...rest] = request.url.split("/");
  const [key, handler] = rest.length > 1 ? rest : [undefined, ...rest];
  const answer = (status, id, bytes) =>
    response.writeHead(status, { ...JSON_TYPE, "x-svc-id": id }).end(bytes);
  invoke({ service, handler, key, body }, {
    ...server,
    accepted(id) {
      if (way !== "send") return;
      answer(202, id, JSON.stringify({ invocationId: id, status: "Accepted" }));
    },
    completed(id, output) {
      if (way !== "send") answer(200, id, output);
    },
    failed: () => response.destroy(),
  });
}

/** Runs a handler once. Tells when the call is on disk, when its output is, and when nothing comes of it. */
function invoke({ service, handler, key, body }, server) {
  const { commit, endpoints, lines } = server;
  const idBytes = randomBytes(24);
  const id = `inv_1${idBytes.toString("hex").slice(0, 33)}`;
  const accepted = { id, target: { service, key, handler }, status: "invoked" };
  commit(JSON.stringify({ ...accepted, body: body.toString("base64") }), () => {
    server.accepted(id);
    const url = `${endpoints.at(service === "Null" ? 1 : 0)}/invoke/${service}/${handler}`;
    const begin = () =>
      attempt(
        { id, url, first: wire.beginning({ idBytes, id, key, body }), server },
        (output) => {
          const completed = { id, status: "completed", output: output.toString("base64") };
          commit(JSON.stringify(completed), () => {
            if (key !== undefined) leave(lines, key);
            server.completed(id, output);
          });
        },
      );
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

/** Sends the message, does what the handler asks for, and calls with the output when the end is heard. */
function attempt({ id, url, first, server }, then) {
  let output;
  const read = wire.reader((type, message) => {
    if (type === wire.OUTPUT) {
      output = wire.contentOf(wire.fieldOf(message, wire.FIELD.output.value));
    } else if (type !== wire.END) return answerCommand({ id, type, message, open, server });
    else {
      open.end();
      then(output);
    }
  });
  const open = server.dial.open({
    url,
    method: "POST",
    version: "h2",
    connectTimeoutMs: 5000,
    headers: { "content-type": wire.PROTOCOL, accept: wire.PROTOCOL },
  }, { head() {}, chunk: read, end() {}, failed: server.failed, drain() {} });
  open.write(first);
}

/** Steps, sleeps and calls; each completion leaves once it is on disk. */
function answerCommand({ id, type, message, open, server }) {
  const of = (field) => wire.fieldOf(message, field);
  const complete = (completed, number, value) =>
    open.write(wire.completion(completed, number, value));
  const write = (row, then) => server.commit(JSON.stringify({ id, type, ...row }), then);
  const { proposal, sleep, call } = wire.FIELD;
  if (type === wire.PROPOSED) {
    const [value, number] = [Buffer.from(of(proposal.value)), of(proposal.completion)];
    write({ value: value.toString("base64") }, () => complete(wire.RAN, number, value));
  } else if (type === wire.SLEEP) {
    const [until, number] = [of(sleep.until), of(sleep.completion)];
    write({ until }, () => {});
    const end = () => write({ number }, () => complete(wire.SLEPT, number));
    setTimeout(end, Math.max(0, until - Date.now()));
  } else if (type === wire.CALL) {
    const target = { service: `${of(call.service)}`, handler: `${of(call.handler)}` };
    const [body, number] = [Buffer.from(of(call.parameter)), of(call.completion)];
    invoke({ ...target, body }, {
      ...server,
      accepted() {},
      completed: (_, output) => complete(wire.CALLED, number, output),
    });
  }
}
