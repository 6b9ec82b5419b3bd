import Database from "libsql";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import type { SqlClient, SqlRow, Statement } from "../src/ports.ts";
import { named, plain } from "./libsql_answer.ts";
import type { FileOptions } from "./libsql_client.ts";

/** A write of more than this is handed over: the thread then works while this one goes on. */
const NEAR_BYTES_MAX = 16 * 1024;
/** A read of more rows is handed over. */
const NEAR_ROWS_MAX = 256;
/** A write or a read that took longer says that the disk is slow, or that somebody else had it. */
const NEAR_MS_MAX = 5;
/** How long everything is handed over after a slow write. */
const REST_MS = 200;
const BUSY_TIMEOUT_MS = 1_000;

/**
 * A database file whose small commits are made in this thread, by a connection of their own.
 * Waking another thread and being woken by it takes longer than a small commit on a quick disk,
 * and costs more. Everything else goes to `far`, the client in the database's thread: reads,
 * batches, large commits, all while it is writing, and all while the disk is slow, so that this
 * thread is never held up for longer than a few milliseconds in a second (decision 016).
 */
export function nearCommits(far: SqlClient, { url, synchronous = "FULL" }: FileOptions): SqlClient {
  return new NearCommits(far, () => open(url, synchronous));
}

function open(url: string, synchronous: string): Database.Database {
  const file = url.startsWith("file://") ? fileURLToPath(url) : url.slice("file:".length);
  const database = new Database(file, { timeout: BUSY_TIMEOUT_MS });
  database.exec(`pragma synchronous = ${synchronous}`);
  // Moving the log into the file takes long, and is left to the thread.
  database.exec("pragma wal_autocheckpoint = 0");
  database.exec("pragma cache_size = -1024");
  return database;
}

class NearCommits implements SqlClient {
  readonly #far: SqlClient;
  readonly #open: () => Database.Database;
  readonly #statements = new Map<string, Database.Statement>();
  #near: Database.Database | undefined;
  #farWrites = 0;
  #restUntil = 0;

  constructor(far: SqlClient, open: () => Database.Database) {
    this.#far = far;
    this.#open = open;
  }

  batch(mode: "read" | "write", statements: readonly Statement[]): Promise<readonly SqlRow[][]> {
    if (mode === "read") {
      const isNear = statements.every(({ isQuick }) => isQuick) && !this.#isResting();
      return isNear
        ? named(() => this.#read(statements) ?? this.#far.batch(mode, statements))
        : this.#far.batch(mode, statements);
    }
    const [only, ...others] = statements;
    if (only && others.length === 0 && this.#isNear(only)) return named(() => this.#write(only));
    this.#farWrites++;
    return this.#far.batch(mode, statements).finally(() => this.#farWrites--);
  }

  isRefused(cause: unknown): boolean {
    return this.#far.isRefused(cause);
  }

  async close(): Promise<void> {
    const near = this.#near;
    this.#near = undefined;
    near?.close();
    await this.#far.close();
  }

  #isNear({ sql, args }: Statement): boolean {
    if (this.#farWrites > 0 || this.#isResting()) return false;
    // What has an answer of its own is asked where answers are read.
    if (/\breturning\b/i.test(sql)) return false;
    let size = 0;
    for (const arg of args) {
      if (typeof arg === "string" || arg instanceof Uint8Array) size += arg.length;
    }
    return size <= NEAR_BYTES_MAX;
  }

  #isResting(): boolean {
    return performance.now() < this.#restUntil;
  }

  #write({ sql, args }: Statement): SqlRow[][] {
    this.#timed(() => this.#prepare(sql).run(args));
    return [[]];
  }

  /**
   * Undefined: there is more than should be read here. Each statement sees what was committed before,
   * as readers of a log wait for nobody.
   */
  #read(statements: readonly Statement[]): SqlRow[][] | undefined {
    return this.#timed(() => {
      const results: SqlRow[][] = [];
      for (const { sql, args } of statements) {
        const rows = this.#prepare(`${sql} limit ${NEAR_ROWS_MAX + 1}`).all(args) as SqlRow[];
        if (rows.length > NEAR_ROWS_MAX) return undefined;
        results.push(rows.map(plain));
      }
      return results;
    });
  }

  #prepare(sql: string): Database.Statement {
    this.#near ??= this.#open();
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, statement = this.#near.prepare(sql));
    return statement;
  }

  #timed<T>(act: () => T): T {
    const began = performance.now();
    const result = act();
    const now = performance.now();
    if (now - began > NEAR_MS_MAX) this.#restUntil = now + REST_MS;
    return result;
  }
}
