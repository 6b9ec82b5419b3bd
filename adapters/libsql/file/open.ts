import type { Client } from "@libsql/client";
import { pathToFileURL } from "node:url";
import { Failure } from "../../../src/errors.ts";
import type { SqlClient } from "../../../src/ports.ts";
import { toSqlError } from "../sql_error.ts";
import { type FileOptions, openLocal } from "./local_client.ts";
import { fileFailure } from "./read_only.ts";
import { databaseThread } from "./thread_ahead.ts";
import { WorkerClient } from "./worker_client.ts";

/** `url`: `file:` with a path, or `:memory:`. For a server, see `libsql/remote`. */
export interface LibsqlOptions extends FileOptions {
  /** The built `libsql_worker`, when it is not beside this module. */
  readonly worker?: URL;
}

/** Another process has the lock. */
export class Locked extends Failure {
  override name = "Locked";

  constructor(file: string, options?: ErrorOptions) {
    super("RT0005", `Cannot lock "${file}": another process holds it`, options);
  }
}

/**
 * Opens a database on this machine. A file is made when it is missing, and is used by a thread of its
 * own, since libSQL blocks its caller. Batches run in the order of the calls, one at a time.
 * Rejects with `SqlError` when it cannot be opened; so does every batch that fails. `close` waits
 * for the batches before it; later ones are rejected.
 */
export async function openLibsql(options: LibsqlOptions): Promise<SqlClient> {
  const { url } = options;
  if (url === ":memory:") return await openLocal({ url });
  const worker = databaseThread(options.worker ?? workerBeside(import.meta.url));
  const client = new WorkerClient(worker);
  const { synchronous, busyTimeoutMs, databaseKey } = options;
  try {
    await client.open({
      ...{ url, databaseKey },
      ...(synchronous === undefined ? {} : { synchronous }),
      ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }),
    });
  } catch (cause) {
    await worker.terminate();
    throw cause;
  }
  return client;
}

/**
 * Holds `file` (made when missing) for this process until `close`, or until the process ends in
 * any way. Rejects with `Locked` at once when another process holds it, and with `Failure` when it
 * cannot be opened.
 */
export async function openLock(file: string): Promise<{ close(): Promise<void> }> {
  const { createClient } = await import("@libsql/client/sqlite3");
  try {
    const client = createClient({ url: pathToFileURL(file).href, concurrency: 1, timeout: 0 });
    try {
      // One call, because the client rolls back a transaction that a call leaves open. The mode is
      // set under the lock: set before, a failed attempt would keep a lock that blocks every process.
      await client.executeMultiple(
        "begin exclusive; pragma locking_mode = exclusive; commit;",
      );
    } catch (cause) {
      client.close();
      throw cause;
    }
    return { close: () => unlock(client) };
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    const error = toSqlError(cause);
    throw error.code.startsWith("SQLITE_BUSY")
      ? new Locked(file, { cause })
      : fileFailure(file, error);
  }
}

/** Releases the lock before it closes: a closed connection stays open until it is collected. */
async function unlock(client: Client): Promise<void> {
  if (client.closed) return;
  await client.executeMultiple("pragma locking_mode = normal; select * from sqlite_master;");
  client.close();
}

/** The worker beside this module: as TypeScript, which Deno runs, or as the build made it. */
function workerBeside(module: string): URL {
  return new URL(module.endsWith(".ts") ? "./worker.ts" : "./libsql_worker.mjs", module);
}
