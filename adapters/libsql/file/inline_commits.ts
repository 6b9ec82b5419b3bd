import { performance } from "node:perf_hooks";
import type { SqlClient, SqlRow, Statement } from "../../../src/ports.ts";
import { named } from "../sql_error.ts";
import type { FileOptions } from "./local_client.ts";
import { Connection, sizeOf } from "./connection.ts";

/** A larger write is sent to the worker, so that this thread continues meanwhile. */
const INLINE_BYTES_MAX = 64 * 1024;
/** A read of more rows is sent to the worker. */
const INLINE_ROWS_MAX = 256;
/** A write or a read that took longer means that the disk is slow, or that another process locked it. */
const INLINE_MS_MAX = 5;
/**
 * After a larger write, SQLite's checkpoint (copying the `-wal` file into the database file) keeps the
 * disk busy for a while: a small commit would wait for it, and block this thread.
 */
const LARGE_BYTES = 128 * 1024;
/** How long the worker gets all writes after a slow or large one, and all reads after a slow one. */
const PAUSE_MS = 200;
const BUSY_TIMEOUT_MS = 1_000;

/**
 * A database file whose small commits are made in this thread, by a connection of their own: two
 * switches between threads take longer than a small commit on a quick disk. Everything else is sent
 * to `worker`, the client in the database's thread: folds, large commits, all commits while it is
 * writing, and all commits while the disk is slow, so that this thread is never blocked for longer
 * than a few milliseconds in a second (decision 016). Short reads run here unless they were slow; they
 * wait for no writer.
 */
export function inlineCommits(
  worker: SqlClient,
  options: FileOptions,
): SqlClient {
  return new InlineCommits(worker, () => open(options));
}

function open({ url, synchronous = "FULL", databaseKey }: FileOptions): Connection {
  const settings = [
    `synchronous = ${synchronous}`,
    // A checkpoint takes long, and is left to the database's thread (decision 095).
    "wal_autocheckpoint = 0",
    "cache_size = -1024",
  ];
  return new Connection(url, BUSY_TIMEOUT_MS, settings, { databaseKey });
}

class InlineCommits implements SqlClient {
  readonly #worker: SqlClient;
  readonly #open: () => Connection;
  #inline: Connection | undefined;
  readonly #writes = new LatencyGuard();
  readonly #reads = new LatencyGuard();
  #workerWrites = 0;

  constructor(worker: SqlClient, open: () => Connection) {
    this.#worker = worker;
    this.#open = open;
  }

  batch(
    mode: "read" | "write",
    statements: readonly Statement[],
    isLazy = false,
  ): Promise<readonly SqlRow[][]> {
    if (mode === "read") {
      const isInline = statements.every(({ isQuick }) => isQuick) && !this.#reads.isPaused;
      return isInline
        ? named(() => this.#read(statements) ?? this.#worker.batch(mode, statements))
        : this.#worker.batch(mode, statements);
    }
    if (this.#isInline(statements)) return named(() => this.#write(statements));
    this.#workerWrites++;
    return this.#worker.batch(mode, statements, isLazy).finally(() => {
      this.#workerWrites--;
      if (statements.some(({ args }) => sizeOf(args) > LARGE_BYTES)) this.#writes.pause();
    });
  }

  isRefused(cause: unknown): boolean {
    return this.#worker.isRefused(cause);
  }

  async close(): Promise<void> {
    // Later batches are sent to the worker, which rejects them.
    for (const guard of [this.#writes, this.#reads]) guard.stop();
    this.#inline?.close();
    this.#inline = undefined;
    await this.#worker.close();
  }

  #isInline(statements: readonly Statement[]): boolean {
    if (this.#workerWrites > 0 || this.#writes.isPaused) return false;
    const isCommit = statements.length === 1 ||
      statements.length > 1 && statements.every(({ isQuick }) => isQuick);
    // A write that returns rows may return many.
    if (!isCommit || statements.some(({ sql }) => /\breturning\b/i.test(sql))) return false;
    return statements.reduce((sum, { args }) => sum + sizeOf(args), 0) <= INLINE_BYTES_MAX;
  }

  #write(statements: readonly Statement[]): SqlRow[][] {
    const [only, ...others] = statements;
    return this.#writes.timed(() =>
      only && others.length === 0
        ? [this.#connection().query(only)]
        : this.#connection().transaction("write", statements)
    );
  }

  /**
   * Undefined: there are more rows than should be read here. Each statement sees all earlier commits:
   * in WAL mode, readers do not wait for writers.
   */
  #read(statements: readonly Statement[]): SqlRow[][] | undefined {
    return this.#reads.timed(() => {
      const results: SqlRow[][] = [];
      for (const { sql, args } of statements) {
        const rows = this.#connection().query({ sql: `${sql} limit ${INLINE_ROWS_MAX + 1}`, args });
        if (rows.length > INLINE_ROWS_MAX) return undefined;
        results.push(rows);
      }
      return results;
    });
  }

  #connection(): Connection {
    return this.#inline ??= this.#open();
  }
}

/** Pauses inline calls for a while after one that took too long. */
class LatencyGuard {
  #pausedUntil = 0;

  get isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }

  timed<T>(act: () => T): T {
    const began = performance.now();
    const result = act();
    if (performance.now() - began > INLINE_MS_MAX) this.pause();
    return result;
  }

  pause(): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + PAUSE_MS);
  }

  stop(): void {
    this.#pausedUntil = Infinity;
  }
}
