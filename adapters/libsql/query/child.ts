import process from "node:process";
import { assert } from "../../../src/assert.ts";
import { Failure } from "../../../src/errors.ts";
import type { QueryRequest } from "../../../src/introspection/request.ts";
import { runQuery } from "../../../src/introspection/run_query.ts";
import type { UnreadableRow } from "../../../src/introspection/unreadable.ts";
import { QueryConnection } from "./database.ts";
import { encodeFrame, type Frame, FrameReader } from "./frames.ts";
import type { Ask, FileAddress, QueryData, QueryResponse, Report } from "./messages.ts";
import { type OpenedSource, Sources } from "./source.ts";
import { RemoteError } from "../remote/error.ts";

/**
 * A query process: it runs queries, one at a time, from parsing to the bytes of the result. Requests
 * arrive on standard input, responses leave on standard output. The server enforces the limits of time
 * and memory by killing this process, because some steps of the database cannot be interrupted.
 */

/** How often this process reports its memory to the server during a query. */
const REPORT_MS = 50;
/** Damaged rows that one query reports to the log. */
const UNREADABLE_MAX = 20;

/** A running query: the parts it still has to send, and the databases its rows are copied from. */
interface Running {
  readonly parts: AsyncGenerator<Uint8Array>;
  readonly sources: readonly OpenedSource[];
}

let data: QueryData | undefined;
let sources: Sources | undefined;
let connection: QueryConnection | undefined;
let running: Running | undefined;

const frames = new FrameReader();
process.stdin.on("data", (piece: Uint8Array) => {
  for (const frame of frames.read(piece)) {
    assert(frame.kind === "json", "The server asks in JSON");
    void take(frame.value as Ask);
  }
});
// The server has ended, so the result is no longer needed.
process.stdin.on("close", () => process.exit(0));
process.stdout.on("error", () => process.exit(0));

async function take(ask: Ask): Promise<void> {
  try {
    post(await answer(ask));
  } catch (cause) {
    await end().catch(() => {});
    post({ kind: "failed", ...described(cause) });
  }
}

async function answer(ask: Ask): Promise<QueryResponse> {
  if (ask.kind === "open") {
    data = ask.data;
    sources = new Sources(data.limits);
    connection = await openConnection(data);
    report();
    return { kind: "ready" };
  }
  if (ask.kind === "query") running = await begin(ask.request);
  assert(running, "A query is asked before its parts are");
  const part = await reporting(running.parts.next());
  if (!part.done) return { kind: "part", bytes: part.value };
  await end();
  return { kind: "end" };
}

/** The only database, if it is a file. Undefined: rows are copied from several, or from a server. */
function fileOf({ databases: [first, ...others] }: QueryData): FileAddress | undefined {
  return others.length === 0 && first?.kind === "file" ? first : undefined;
}

async function openConnection(data: QueryData): Promise<QueryConnection> {
  const { databases, limits } = data;
  const isEncrypted = databases.some((one) => one.kind === "file" && one.databaseKey !== undefined);
  return await QueryConnection.open(fileOf(data), limits, isEncrypted);
}

async function begin(request: QueryRequest): Promise<Running> {
  assert(data && sources, "The databases are named before a query is asked");
  const { databases, limits } = data;
  connection ??= await openConnection(data);
  let left = UNREADABLE_MAX;
  const unreadable = (row: UnreadableRow) => {
    if (left-- > 0) tell({ kind: "unreadable", row });
  };
  const telling = { limits, unreadable, warn: (text: string) => tell({ kind: "warning", text }) };
  if (fileOf(data) !== undefined) {
    return { parts: runQuery(connection, request, telling), sources: [] };
  }
  const opened: OpenedSource[] = [];
  try {
    for (const address of databases) opened.push(await sources.open(address));
  } catch (cause) {
    for (const source of opened) source.close();
    throw cause;
  }
  const parts = runQuery(connection, request, { ...telling, sources: opened });
  return { parts, sources: opened };
}

/** Reports memory periodically until `work` is done. */
async function reporting<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(report, REPORT_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/** Prepares for the next query. */
async function end(): Promise<void> {
  for (const source of running?.sources ?? []) source.close();
  running = undefined;
  if (connection && !await connection.end()) {
    connection.close();
    connection = undefined;
  }
  report();
}

function report(): void {
  tell({ kind: "report", residentBytes: process.memoryUsage.rss() });
}

function tell(value: Report): void {
  send({ kind: "json", value });
}

function post(answer: QueryResponse): void {
  if (answer.kind === "part") send({ kind: "bytes", bytes: answer.bytes });
  else send({ kind: "json", value: answer });
}

function send(frame: Frame): void {
  for (const piece of encodeFrame(frame)) process.stdout.write(piece);
}

function described(
  cause: unknown,
): Pick<QueryResponse & { kind: "failed" }, "status" | "message" | "bug" | "cause"> {
  if (cause instanceof Failure) {
    const { status, message, cause: inner } = cause;
    return { status, message, ...(inner instanceof RemoteError && { cause: inner.message }) };
  }
  const bug = cause instanceof Error ? cause.stack ?? cause.message : String(cause);
  return { status: 500, message: "Internal error", bug };
}
