import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../src/assert.ts";
import { Failure } from "../src/errors.ts";
import { runQuery } from "../src/introspection/run_query.ts";
import { failed } from "../src/introspection/refusal.ts";
import type { QueryRequest } from "../src/introspection/request.ts";
import type { Answer, Ask, ThreadData } from "./libsql_query_messages.ts";
import { QueryConnection } from "./libsql_query_database.ts";
import { type OpenedSource, Sources } from "./libsql_query_source.ts";
import { RemoteError } from "./libsql_remote_error.ts";

/** The thread that answers queries: everything about them happens here, from parsing to bytes. */
assert(parentPort, "The query thread is started by libsqlIntrospection");
const port = parentPort;
const { databases, limits } = workerData as ThreadData;
/** The one file there is. Undefined: there are others, and rows are copied. */
const file = databases.length === 1 && databases[0]?.kind === "file" ? databases[0].url : undefined;
const sources = new Sources(limits);

/** A query under way: what it still has to say, and the connection it says it from. */
interface Running {
  readonly parts: AsyncGenerator<Uint8Array>;
  readonly connection: QueryConnection;
  /** Where its rows are copied from. */
  readonly sources: readonly OpenedSource[];
}

const running = new Map<number, Promise<Running>>();
/** Connections that nobody uses. As many as there ever were queries at once. */
const idle: QueryConnection[] = [];

port.on("message", (ask: Ask) => {
  const { id } = ask;
  switch (ask.kind) {
    case "query":
      running.set(id, begin(ask.request));
      return void next(id);
    case "next":
      return void next(id);
    case "cancel":
      return void cancel(id);
  }
});

async function begin(request: QueryRequest): Promise<Running> {
  const connection = idle.pop() ?? await QueryConnection.open(file, limits);
  if (file !== undefined) {
    connection.begin();
    return { parts: runQuery(connection, request, { limits }), connection, sources: [] };
  }
  const opened: OpenedSource[] = [];
  try {
    for (const address of databases) opened.push(await sources.open(address));
  } catch (cause) {
    for (const source of opened) source.close();
    idle.push(connection);
    throw cause;
  }
  connection.begin((why) => opened.forEach((source) => source.stop(why)));
  const parts = runQuery(connection, request, { limits, sources: opened });
  return { parts, connection, sources: opened };
}

/** Says the next part of an answer. */
async function next(id: number): Promise<void> {
  try {
    const query = await running.get(id);
    if (!query) return;
    const part = await query.parts.next();
    query.connection.spooled();
    if (!part.done) return post({ id, kind: "part", bytes: part.value });
    await end(id);
    post({ id, kind: "end" });
  } catch (cause) {
    await end(id);
    post({ id, kind: "failed", ...described(cause) });
  }
}

async function cancel(id: number): Promise<void> {
  const query = await running.get(id)?.catch(() => undefined);
  query?.connection.stop(failed("Cannot run the query: nobody waits for it any more"));
  // What is under way ends with that failure, and then here; a query at rest ends now.
  await query?.parts.return(undefined).catch(() => {});
  await end(id);
}

/** Gives the connection back. May be called more than once. */
async function end(id: number): Promise<void> {
  const begun = running.get(id);
  running.delete(id);
  const query = await begun?.catch(() => undefined);
  if (!query) return;
  for (const source of query.sources) source.close();
  if (await query.connection.end()) idle.push(query.connection);
  else query.connection.close();
}

function post(answer: Answer): void {
  // Bytes move to the main thread, unless they are a part of something larger.
  const own = answer.kind === "part" && answer.bytes.byteLength === answer.bytes.buffer.byteLength;
  port.postMessage(answer, own ? [answer.bytes.buffer as ArrayBuffer] : []);
}

function described(
  cause: unknown,
): Pick<Answer & { kind: "failed" }, "status" | "message" | "bug" | "cause"> {
  if (cause instanceof Failure) {
    const { status, message, cause: inner } = cause;
    return { status, message, ...(inner instanceof RemoteError && { cause: inner.message }) };
  }
  const bug = cause instanceof Error ? cause.stack ?? cause.message : String(cause);
  return { status: 500, message: "Internal error", bug };
}
