import { parentPort } from "node:worker_threads";
import { assert } from "../../../src/assert.ts";
import type { SqlClient, SqlRow } from "../../../src/ports.ts";
import { SqlError } from "../sql_error.ts";
import { openLocal } from "./local_client.ts";
import type { Request, Response } from "./worker_client.ts";
import { packRows, received } from "./worker_messages.ts";

/** The thread that owns a database file. It answers in order, one request at a time. */
assert(parentPort, "The database thread is started by openLibsql");
const port = parentPort;
let client: SqlClient | undefined;
let last: Promise<void> = Promise.resolve();

port.on("message", (request: Request) => {
  last = last.then(() => serve(request));
});

async function serve(request: Request): Promise<void> {
  const { id } = request;
  try {
    const rows = await answer(request);
    const response: Response = { id, rows };
    port.postMessage(response, packRows(rows));
  } catch (cause) {
    const code = cause instanceof SqlError ? cause.code : "UNKNOWN";
    const message = cause instanceof Error ? cause.message : String(cause);
    const response: Response = { id, message, code };
    port.postMessage(response);
  }
}

async function answer(request: Request): Promise<SqlRow[][]> {
  switch (request.kind) {
    case "open":
      client = await openLocal(request.options, true);
      return [];
    case "close":
      await client?.close();
      return [];
    case "batch": {
      assert(client, "A database is opened before it is used");
      const { mode, statements, isLazy } = request;
      return await client.batch(mode, statements.map(received), isLazy) as SqlRow[][];
    }
  }
}
