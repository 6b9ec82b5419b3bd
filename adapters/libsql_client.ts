import type { Client, InArgs } from "@libsql/client";
import type { SqlClient, SqlRow, Statement } from "../src/ports.ts";
import { isRefused, named, plain } from "./libsql_answer.ts";

/** What opening a file needs to know, in a form that can be posted to a thread. */
export interface FileOptions {
  /** `file:` with a path, or `:memory:`. */
  readonly url: string;
  /** `FULL` (default): what was acknowledged survives power loss. `NORMAL`: a crash only. */
  readonly synchronous?: "FULL" | "NORMAL";
  /** How long to wait for another process that writes. 5,000 by default. */
  readonly busyTimeoutMs?: number;
}

const BUSY_TIMEOUT_MS = 5000;
const CACHE_KIB = 16 * 1024;
const JOURNAL_BYTES_MAX = 64 * 1024 * 1024;

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

/** Write batches between two looks at the free pages of a file. */
const BATCHES_PER_VACUUM = 64;
/** Free pages that will be needed again soon, and how many of the others go at once. */
const RESERVE_PAGES = 4096;
const VACUUM_PAGES = 256;

/** A client of libSQL for a file or memory, one batch at a time. */
class InOrder implements SqlClient {
  readonly #client: Client;
  #last: Promise<unknown> = Promise.resolve();
  #batches = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  batch(mode: "read" | "write", statements: readonly Statement[]): Promise<SqlRow[][]> {
    const run = () => named(() => this.#run(mode, statements));
    const done = this.#last.then(run);
    this.#last = done.then(() => this.#tidy(), () => {});
    return done;
  }

  /** Gives space back to the file system, a little at a time. Whoever waits has its answer. */
  async #tidy(): Promise<void> {
    if (++this.#batches % BATCHES_PER_VACUUM !== 0) return;
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
