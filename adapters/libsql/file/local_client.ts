import { setImmediate } from "node:timers";
import type { SqlClient, SqlRow, Statement } from "../../../src/ports.ts";
import { isRefused, named, SqlError } from "../sql_error.ts";
import { CHECKPOINT_SETTING, Checkpoints, logOf } from "./checkpoints.ts";
import { Connection, sizeOf } from "./connection.ts";

/** How to open a file, in a form that can be posted to a thread. */
export interface FileOptions {
  /** `file:` with a path, or `:memory:`. */
  readonly url: string;
  /** `FULL` (default): acknowledged writes survive power loss. `NORMAL`: a crash only. */
  readonly synchronous?: "FULL" | "NORMAL";
  /** How long to wait for another process that writes. 5,000 by default. */
  readonly busyTimeoutMs?: number;
  /** Of `FolderKey`. Absent: the file is not encrypted. */
  readonly databaseKey?: string | undefined;
}

const BUSY_TIMEOUT_MS = 5000;
const CACHE_KIB = 16 * 1024;
const JOURNAL_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Opens a file or `:memory:` in this thread. Rejects with `SqlError`. `ownsFile`: this thread is there for
 * a file, which stays open, so that checkpoints are made beside its commits.
 */
export async function openLocal(options: FileOptions, ownsFile = false): Promise<SqlClient> {
  const { url, synchronous = "FULL", busyTimeoutMs = BUSY_TIMEOUT_MS, databaseKey } = options;
  const settings = [
    // The vacuum must be chosen before the first page is written, which setting WAL does.
    "auto_vacuum = incremental",
    "journal_mode = wal",
    `synchronous = ${synchronous}`,
    `cache_size = -${CACHE_KIB}`,
    `journal_size_limit = ${JOURNAL_BYTES_MAX}`,
    ...(ownsFile ? [CHECKPOINT_SETTING] : []),
  ];
  return await named(() => {
    const connection = new Connection(url, busyTimeoutMs, settings, { databaseKey });
    const log = ownsFile ? logOf(connection, url, databaseKey) : undefined;
    return new Local(connection, synchronous, log && new Checkpoints(log));
  });
}

/** The free pages of a file are counted once in so many write batches. */
const BATCHES_PER_VACUUM = 64;
/** Free pages that are kept, because they are soon used again, and how many others go at once. */
const RESERVE_PAGES = 4096;
const VACUUM_PAGES = 256;

/**
 * Does not force the disk: the write-ahead log keeps the order of commits, so that a loss of power cuts
 * off its end, and the next commit that is forced is so with all before it (decision 075).
 */
function unsynced<T>(connection: Connection, run: () => T): T {
  connection.pragma("synchronous = normal");
  try {
    return run();
  } finally {
    connection.pragma("synchronous = full");
  }
}

class Local implements SqlClient {
  #connection: Connection | undefined;
  #batches = 0;

  readonly #synchronous: "FULL" | "NORMAL";
  readonly #checkpoints: Checkpoints | undefined;

  constructor(
    connection: Connection,
    synchronous: "FULL" | "NORMAL",
    checkpoints: Checkpoints | undefined,
  ) {
    this.#connection = connection;
    this.#synchronous = synchronous;
    this.#checkpoints = checkpoints;
  }

  async batch(
    mode: "read" | "write",
    statements: readonly Statement[],
    isLazy = false,
  ): Promise<SqlRow[][]> {
    const connection = this.#connection;
    if (!connection) throw new SqlError("The database is closed", "CLIENT_CLOSED");
    const run = () => {
      const [only, ...others] = statements;
      // An explicit transaction costs three times an implicit one.
      return only && others.length === 0
        ? [connection.query(only)]
        : connection.transaction(mode, statements);
    };
    const isEased = isLazy && this.#synchronous === "FULL";
    const results = await named(() => isEased ? unsynced(connection, run) : run());
    if (mode === "write") setImmediate(() => this.#tidy(statements));
    return results;
  }

  /** After the batch was answered: a checkpoint, and space is given back to the file system, a little at a time. */
  #tidy(written: readonly Statement[]): void {
    if (!this.#connection) return;
    this.#checkpoints?.afterWrite(written.reduce((sum, { args }) => sum + sizeOf(args), 0));
    if (++this.#batches % BATCHES_PER_VACUUM !== 0) return;
    try {
      const [row] = this.#connection.query({ sql: "pragma freelist_count", args: [] });
      if (Number(row?.["freelist_count"] ?? 0) < RESERVE_PAGES) return;
      this.#connection.pragma(`incremental_vacuum(${VACUUM_PAGES})`);
    } catch (cause) {
      // Not reported: the vacuum is optional, and the next batch reports the same error.
      if (!(cause instanceof Error && cause.name === "SqliteError")) throw cause;
    }
  }

  isRefused(cause: unknown): boolean {
    return isRefused(cause);
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await this.#checkpoints?.close();
    await named(() => connection?.close());
  }
}
