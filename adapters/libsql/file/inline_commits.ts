import { performance } from "node:perf_hooks";
import type { SqlClient, SqlRow, Statement } from "../../../src/ports.ts";
import { named } from "../sql_error.ts";
import type { FileOptions } from "./local_client.ts";
import { Connection, sizeOf } from "./connection.ts";

/** A write of more than this is handed over: the thread then works while this one goes on. */
const INLINE_BYTES_MAX = 64 * 1024;
/** A read of more rows is handed over. */
const INLINE_ROWS_MAX = 256;
/** A write or a read that took longer says that the disk is slow, or that somebody else had it. */
const INLINE_MS_MAX = 5;
/**
 * After a write of more than this the disk is busy for a while with moving it into the database file:
 * a small commit would wait for that, and block this thread.
 */
const LARGE_BYTES = 128 * 1024;
/** How long writes are handed over after a slow or large one, and reads after a slow one. */
const REST_MS = 200;
const BUSY_TIMEOUT_MS = 1_000;

/**
 * A database file whose small commits are made in this thread, by a connection of their own.
 * Waking another thread and being woken by it takes longer than a small commit on a quick disk,
 * and costs more. Everything else goes to `worker`, the client in the database's thread: batches, large
 * commits, all commits while it is writing, and all while the disk is slow, so that this thread is
 * never held up for longer than a few milliseconds in a second (decision 016). Short reads stay here,
 * and wait for no writer, unless they are slow themselves.
 */
export function inlineCommits(
  worker: SqlClient,
  { url, synchronous = "FULL" }: FileOptions,
): SqlClient {
  return new InlineCommits(worker, () => open(url, synchronous));
}

function open(url: string, synchronous: string): Connection {
  return new Connection(url, BUSY_TIMEOUT_MS, [
    `synchronous = ${synchronous}`,
    // Moving the log into the file takes long, and is left to the thread.
    "wal_autocheckpoint = 0",
    "cache_size = -1024",
  ]);
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

  batch(mode: "read" | "write", statements: readonly Statement[]): Promise<readonly SqlRow[][]> {
    if (mode === "read") {
      const isInline = statements.every(({ isQuick }) => isQuick) && !this.#reads.isResting;
      return isInline
        ? named(() => this.#read(statements) ?? this.#worker.batch(mode, statements))
        : this.#worker.batch(mode, statements);
    }
    const [only, ...others] = statements;
    if (only && others.length === 0 && this.#isInline(only)) return named(() => this.#write(only));
    this.#workerWrites++;
    return this.#worker.batch(mode, statements).finally(() => {
      this.#workerWrites--;
      if (statements.some(({ args }) => sizeOf(args) > LARGE_BYTES)) this.#writes.rest();
    });
  }

  isRefused(cause: unknown): boolean {
    return this.#worker.isRefused(cause);
  }

  async close(): Promise<void> {
    // Whoever comes later is told by the thread that it is too late.
    for (const guard of [this.#writes, this.#reads]) guard.stop();
    this.#inline?.close();
    this.#inline = undefined;
    await this.#worker.close();
  }

  #isInline({ sql, args }: Statement): boolean {
    if (this.#workerWrites > 0 || this.#writes.isResting) return false;
    // What has an answer of its own is asked where answers are read.
    if (/\breturning\b/i.test(sql)) return false;
    return sizeOf(args) <= INLINE_BYTES_MAX;
  }

  #write(statement: Statement): SqlRow[][] {
    return [this.#writes.timed(() => this.#connection().query(statement))];
  }

  /**
   * Undefined: there is more than should be read here. Each statement sees what was committed before,
   * as readers of a log wait for nobody.
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

/** Tells by how long one took whether the next ones should be handed over for a while. */
class LatencyGuard {
  #restUntil = 0;

  get isResting(): boolean {
    return performance.now() < this.#restUntil;
  }

  timed<T>(act: () => T): T {
    const began = performance.now();
    const result = act();
    if (performance.now() - began > INLINE_MS_MAX) this.rest();
    return result;
  }

  rest(): void {
    this.#restUntil = Math.max(this.#restUntil, performance.now() + REST_MS);
  }

  stop(): void {
    this.#restUntil = Infinity;
  }
}
