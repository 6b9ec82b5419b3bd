import Database from "libsql/promise";
import type { Bound, QueryDatabase } from "../../../src/introspection/database.ts";
import { failed, tooLarge } from "../../../src/introspection/refusal.ts";
import type { Row } from "../../../src/introspection/render/format.ts";
import type { QueryLimits } from "../../../src/introspection/request.ts";
import type { FileAddress } from "./messages.ts";

/** Methods of the driver that its types lack. */
interface Prepared {
  raw(isRaw: boolean): Prepared;
  safeIntegers(isSafe: boolean): Prepared;
  iterate(args: readonly Bound[]): Promise<Iterator<Row>>;
  run(args: readonly Bound[]): unknown;
  get(args: readonly Bound[]): Row | undefined;
}

/** The tables that a query leaves in scratch space. They have safe names. */
const TABLES = "select name from main.sqlite_schema where type = 'table'";
const BUSY_TIMEOUT_MS = 5000;
const PAGE_BYTES = 4096;
/** A connection with more statements and iterations than this is replaced. */
const KEPT_MAX = 1000;
/** A connection with larger scratch space is replaced, which gives the space back to the disk. */
const SCRATCH_PAGES_KEPT = 1024;

/**
 * A connection for queries. It writes to scratch space only, which is deleted with it; the stored rows
 * are attached to it and cannot be written. It serves one query at a time, until `end`.
 *
 * The driver runs the first step of an iteration in a thread of its own. So all long work is done in
 * one first step, an insert into scratch space, and this thread stays free to report memory and to
 * notice that the server ended.
 *
 * Statements and iterations are kept for as long as the connection is used. Collecting one takes the
 * lock of its connection, and so would block this thread while a step holds that lock.
 */
export class QueryConnection implements QueryDatabase {
  readonly #database: Database;
  readonly #limits: QueryLimits;
  readonly #statements = new Map<string, Prepared>();
  readonly #iterations: Iterator<Row>[] = [];

  constructor(database: Database, limits: QueryLimits) {
    this.#database = database;
    this.#limits = limits;
  }

  /**
   * `file`: the database to attach; undefined: none. `isEncrypted`: whether stored rows are. Then queries
   * write nothing to disk, since SQLite does not encrypt temporary files: what they sort and copy stays in
   * memory. Rejects when the file is missing, or has another key.
   */
  static async open(
    file: FileAddress | undefined,
    limits: QueryLimits,
    isEncrypted = file?.databaseKey !== undefined,
  ): Promise<QueryConnection> {
    const database = new Database(isEncrypted ? ":memory:" : "", { timeout: BUSY_TIMEOUT_MS });
    const made = new QueryConnection(database, limits);
    if (file !== undefined) {
      const { href } = Object.assign(new URL(file.url), { search: "mode=ro" });
      (await made.#prepare("attach ? as store key ?")).run([href, file.databaseKey ?? ""]);
      await database.exec("pragma store.cache_size = -8192");
    }
    await database.exec(`pragma page_size = ${PAGE_BYTES}; pragma case_sensitive_like = on;
      pragma main.max_page_count = ${Math.ceil(limits.spoolBytesMax / PAGE_BYTES)};
      pragma main.cache_size = -2048;
      pragma main.journal_mode = off; pragma main.synchronous = off;
      pragma temp_store = ${isEncrypted ? "memory" : "file"}`);
    return made;
  }

  /** The query is over; false: the connection cannot be used again. */
  async end(): Promise<boolean> {
    try {
      // The types of the driver lack this property.
      const { inTransaction } = this.#database as { readonly inTransaction?: boolean };
      if (inTransaction) await this.run("rollback");
      for (const [table] of await this.rows(TABLES)) await this.run(`drop table main.${table}`);
      const [[pages] = []] = await this.rows("pragma main.page_count");
      const kept = this.#statements.size + this.#iterations.length;
      return Number(pages) <= SCRATCH_PAGES_KEPT && kept < KEPT_MAX;
    } catch {
      return false;
    }
  }

  close(): void {
    this.#database.close();
  }

  /** Checks nothing: the server enforces time and memory by killing this process. */
  check(): void {}

  async run(sql: string, args: readonly Bound[] = []): Promise<void> {
    await this.#named("its result", async () => {
      const rows = await this.#iterate(await this.#prepare(sql), args);
      // Returns the first row or the end, or throws the error of the first step.
      rows.next();
    });
  }

  async runAll(sql: string, rows: Iterable<readonly Bound[]>): Promise<void> {
    await this.#named("what it reads", async () => {
      const statement = await this.#prepare(sql);
      for (const args of rows) statement.run(args);
    });
  }

  async rows(sql: string, args: readonly Bound[] = []): Promise<readonly Row[]> {
    return await this.#named("its result", async () => {
      const statement = (await this.#prepare(sql)).raw(true).safeIntegers(true);
      const rows = await this.#iterate(statement, args);
      const all: Row[] = [];
      for (let row = rows.next(); !row.done; row = rows.next()) all.push(row.value);
      return all;
    });
  }

  async row(sql: string, args: readonly Bound[] = []): Promise<Row | undefined> {
    return await this.#named("its result", async () => {
      const statement = (await this.#prepare(sql)).raw(true).safeIntegers(true);
      return statement.get(args);
    });
  }

  async #prepare(sql: string): Promise<Prepared> {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement: Prepared = await this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  async #iterate(statement: Prepared, args: readonly Bound[]): Promise<Iterator<Row>> {
    const rows = await statement.iterate(args);
    this.#iterations.push(rows);
    return rows;
  }

  /**
   * Runs `act`, and throws errors of the database as `Failure`: the limit that was reached, or its
   * message. `written`: what fills scratch space, for the message.
   */
  async #named<T>(written: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (cause) {
      if (!(cause instanceof Error) || cause.name !== "SqliteError") throw cause;
      if ("code" in cause && cause.code === "SQLITE_FULL") {
        throw tooLarge(written, this.#limits.spoolBytesMax);
      }
      throw failed(`Cannot run the query: ${cause.message}`, { cause });
    }
  }
}
