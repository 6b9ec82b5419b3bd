import type { Client, InArgs } from "@libsql/client";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { Failure } from "../src/errors.ts";
import type { SqlClient, SqlRow, Statement } from "../src/ports.ts";

export interface LibsqlOptions {
  /** `file:` with a path, `:memory:`, or the address of a server: `libsql:`, `https:`, `http:`. */
  readonly url: string;
  readonly authToken?: string;
  /** Files only. `FULL`: what was acknowledged survives power loss. `NORMAL`: a crash only. */
  readonly synchronous?: "FULL" | "NORMAL";
  /** Files only: how long to wait for another process that writes. */
  readonly busyTimeoutMs?: number;
  /** Files only: the built `libsql_worker`, when it is not beside this module. */
  readonly worker?: URL;
  /** Servers only. */
  readonly fetch?: typeof fetch;
}

/** What opening a file needs to know, in a form that can be posted to a thread. */
export type FileOptions = Pick<LibsqlOptions, "url" | "synchronous" | "busyTimeoutMs">;

/** What the database had to say. `code` as SQLite spells it: `SQLITE_FULL`, `SQLITE_IOERR_FSYNC`. */
export class SqlError extends Error {
  override name = "SqlError";
  readonly code: string;

  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Another process has the lock. */
export class Locked extends Failure {
  override name = "Locked";

  constructor(file: string, options?: ErrorOptions) {
    super("RT0005", `Cannot lock "${file}": another process holds it`, options);
  }
}

const BUSY_TIMEOUT_MS = 5000;
const CACHE_KIB = 16 * 1024;
const JOURNAL_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Opens a database. A file is made when it is missing, and lives in a thread of its own, since
 * libSQL blocks whoever calls it. Batches run in the order they were handed over, one at a time.
 * Rejects with `SqlError` when it cannot be opened; so does every batch that fails. `close` waits
 * for the batches before it; later ones are rejected.
 */
export async function openLibsql(options: LibsqlOptions): Promise<SqlClient> {
  const { url } = options;
  if (url === ":memory:") return await openLocal({ url });
  if (!url.startsWith("file:")) return await openRemote(options);
  const worker = new Worker(options.worker ?? workerBeside(import.meta.url));
  const client = new ThreadClient(worker);
  const { synchronous, busyTimeoutMs } = options;
  try {
    await client.open({
      url,
      ...(synchronous === undefined ? {} : { synchronous }),
      ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }),
    });
  } catch (cause) {
    await worker.terminate();
    throw cause;
  }
  return client;
}

/** Opens a file or `:memory:` in this very thread. Rejects with `SqlError`. */
export async function openLocal(options: FileOptions): Promise<SqlClient> {
  const { createClient } = await import("@libsql/client/sqlite3");
  const { url, synchronous = "FULL", busyTimeoutMs = BUSY_TIMEOUT_MS } = options;
  const client = await named(async () => {
    const client = createClient({ url, concurrency: 1, timeout: busyTimeoutMs });
    // The vacuum must be chosen before the first page is written, which setting WAL does.
    await client.execute("pragma auto_vacuum = incremental");
    await client.execute("pragma journal_mode = wal");
    await client.execute(`pragma synchronous = ${synchronous}`);
    await client.execute(`pragma cache_size = -${CACHE_KIB}`);
    await client.execute(`pragma journal_size_limit = ${JOURNAL_BYTES_MAX}`);
    return client;
  });
  return new InOrder(client);
}

async function openRemote({ url, authToken, fetch }: LibsqlOptions): Promise<SqlClient> {
  const { createClient } = await import("@libsql/client/web");
  return await named(() =>
    new InOrder(createClient({
      url,
      ...(authToken === undefined ? {} : { authToken }),
      ...(fetch === undefined ? {} : { fetch }),
    }))
  );
}

/** Whether a batch failed at a `check`. */
export function isRefused(cause: unknown): boolean {
  return cause instanceof SqlError && cause.code.startsWith("SQLITE_CONSTRAINT") &&
    cause.message.includes("CHECK constraint failed");
}

/** Write batches between two looks at the free pages of a file. */
const BATCHES_PER_VACUUM = 64;
/** Free pages that will be needed again soon, and how many of the others go at once. */
const RESERVE_PAGES = 4096;
const VACUUM_PAGES = 256;

/** A client of libSQL, one write at a time: servers refuse writes that meet (runtimes §4.5). */
class InOrder implements SqlClient {
  readonly #client: Client;
  readonly #isFile: boolean;
  #last: Promise<unknown> = Promise.resolve();
  #batches = 0;

  constructor(client: Client) {
    this.#client = client;
    this.#isFile = client.protocol === "file";
  }

  batch(mode: "read" | "write", statements: readonly Statement[]): Promise<SqlRow[][]> {
    const run = () => named(() => this.#run(mode, statements));
    if (mode === "read" && !this.#isFile) return run();
    const done = this.#last.then(run);
    this.#last = done.then(() => this.#tidy(), () => {});
    return done;
  }

  /** Gives space back to the file system, a little at a time. Whoever waits has its answer. */
  async #tidy(): Promise<void> {
    if (!this.#isFile || ++this.#batches % BATCHES_PER_VACUUM !== 0) return;
    try {
      const { rows: [row] } = await this.#client.execute("pragma freelist_count");
      if (Number(row?.["freelist_count"]) < RESERVE_PAGES) return;
      // Not in a batch: as a statement of its own, the client would leave it half done.
      await this.#client.executeMultiple(`pragma incremental_vacuum(${VACUUM_PAGES})`);
    } catch (cause) {
      // It is not needed for anything: the next batch meets the same trouble, and reports it.
      if (!(cause instanceof Error && cause.name === "LibsqlError")) throw cause;
    }
  }

  async #run(mode: "read" | "write", statements: readonly Statement[]): Promise<SqlRow[][]> {
    const [first, ...others] = statements.map(({ sql, args }) => ({ sql, args: args as InArgs }));
    // A statement by itself is a transaction of its own, and costs a third of one that is told so.
    const results = first && others.length === 0
      ? [await this.#client.execute(first)]
      : await this.#client.batch(first ? [first, ...others] : [], mode);
    return results.map(({ rows }) => rows.map(plain));
  }

  isRefused(cause: unknown): boolean {
    return isRefused(cause);
  }

  async close(): Promise<void> {
    await this.#last;
    if (this.#client.closed) return;
    this.#client.close();
  }
}

/** A row without what the client adds to it, bytes as `Uint8Array`. */
function plain(row: Readonly<Record<string, unknown>>): SqlRow {
  const columns: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    columns[name] = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
  }
  return columns;
}

/** Errors of the client as `SqlError`. */
async function named<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    throw cause instanceof Error ? toSqlError(cause) : cause;
  }
}

function toSqlError(cause: Error & { code?: unknown; extendedCode?: unknown }): SqlError {
  const code = cause.extendedCode ?? cause.code ?? "UNKNOWN";
  return new SqlError(cause.message, String(code), { cause });
}

/** Beside this module: TypeScript as Deno runs it, or what the build made of it. */
function workerBeside(module: string): URL {
  return new URL(module.endsWith(".ts") ? "./libsql_worker.ts" : "./libsql_worker.mjs", module);
}

/** From the main thread to the worker. */
export type Request =
  | { readonly id: number; readonly kind: "open"; readonly options: FileOptions }
  | {
    readonly id: number;
    readonly kind: "batch";
    readonly mode: "read" | "write";
    readonly statements: readonly Statement[];
  }
  | { readonly id: number; readonly kind: "close" };

/** From the worker, one for each request, in their order. */
export type Response =
  | { readonly id: number; readonly rows: SqlRow[][] }
  | { readonly id: number; readonly message: string; readonly code: string };

interface Waiter {
  readonly resolve: (rows: SqlRow[][]) => void;
  readonly reject: (cause: unknown) => void;
}

/** A database in another thread. */
class ThreadClient implements SqlClient {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiter>();
  #id = 0;
  #ended: SqlError | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (response: Response) => this.#answer(response));
    worker.on(
      "error",
      (cause) =>
        this.#end(new SqlError(`The database thread failed: ${cause}`, "THREAD", { cause })),
    );
    worker.on("exit", () => this.#end(new SqlError("The database is closed", "CLIENT_CLOSED")));
  }

  async open(options: FileOptions): Promise<void> {
    await this.#ask({ id: ++this.#id, kind: "open", options });
  }

  batch(mode: "read" | "write", statements: readonly Statement[]): Promise<SqlRow[][]> {
    return this.#ask({ id: ++this.#id, kind: "batch", mode, statements: statements.map(portable) });
  }

  isRefused(cause: unknown): boolean {
    return isRefused(cause);
  }

  async close(): Promise<void> {
    if (this.#ended) return;
    const closed = this.#ask({ id: ++this.#id, kind: "close" });
    // Whatever is asked from now on is too late.
    const pending = new SqlError("The database is closed", "CLIENT_CLOSED");
    this.#ended = pending;
    await closed.catch(() => {});
    await this.#worker.terminate();
  }

  #ask(request: Request): Promise<SqlRow[][]> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      this.#waiting.set(request.id, { resolve, reject });
      this.#worker.postMessage(request);
    });
  }

  #answer(response: Response): void {
    const waiter = this.#waiting.get(response.id);
    this.#waiting.delete(response.id);
    if ("rows" in response) waiter?.resolve(response.rows);
    else waiter?.reject(new SqlError(response.message, response.code));
  }

  #end(error: SqlError): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

/** Posting bytes copies all of their buffer, so a small part of a large one goes by itself. */
function portable({ sql, args }: Statement): Statement {
  return {
    sql,
    args: args.map((value) =>
      value instanceof Uint8Array && value.byteLength < value.buffer.byteLength
        ? value.slice()
        : value
    ),
  };
}

/**
 * Holds `file` (made when missing) for this process until `close`, or until the process ends in
 * any way. Rejects with `Locked` at once when another process holds it.
 */
export async function openLock(file: string): Promise<{ close(): Promise<void> }> {
  const { createClient } = await import("@libsql/client/sqlite3");
  try {
    const client = createClient({ url: pathToFileURL(file).href, concurrency: 1, timeout: 0 });
    try {
      // One call: the client rolls back what a call leaves open. The mode is set with the lock in
      // hand: set before, it would make a failed attempt keep a lock that stops everybody.
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
    throw error.code.startsWith("SQLITE_BUSY") ? new Locked(file, { cause }) : error;
  }
}

/** A closed connection lives on until its statements are collected; so the lock goes first. */
async function unlock(client: Client): Promise<void> {
  if (client.closed) return;
  await client.executeMultiple("pragma locking_mode = normal; select * from sqlite_master;");
  client.close();
}
