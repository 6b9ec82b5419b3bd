import Database from "libsql";
import { fileURLToPath } from "node:url";
import type { SqlRow, Statement } from "../../../src/ports.ts";
import { plain } from "../sql_error.ts";
import { keyOption } from "./folder_key.ts";

/** Statements with larger arguments are not kept, because they would keep the arguments, too. */
const KEPT_BYTES_MAX = 512 * 1024;
/** Statements that are repeated: some dozens of texts. The others make and change tables. */
const IS_KEPT = /^\s*(?:select|insert|update|delete|begin|commit)\b/i;

interface ConnectionOptions {
  readonly isReadOnly?: boolean;
  readonly databaseKey?: string | undefined;
}

/**
 * A connection to a database on this machine, which prepares each statement once. It blocks its thread.
 * Using it after `close` ends the process, so its owner must not. All calls throw what libSQL throws;
 * see `named`.
 */
export class Connection {
  readonly #database: Database.Database;
  readonly #kept = new Map<string, Database.Statement>();

  /**
   * `url`: `file:` with a path, or `:memory:`. `timeout`: how long to wait for another process that
   * writes, in milliseconds. `settings`: pragmas, in their order. `isReadOnly`: the file is never
   * changed, not even by `close`. `databaseKey`: of `FolderKey`, where the file is encrypted.
   */
  constructor(
    url: string,
    timeout: number,
    settings: readonly string[],
    { isReadOnly = false, databaseKey }: ConnectionOptions = {},
  ) {
    const options = { timeout, readonly: isReadOnly, ...keyOption(databaseKey) };
    this.#database = new Database(pathOf(url), options);
    try {
      for (const setting of settings) this.pragma(setting);
    } catch (cause) {
      this.#database.close();
      throw cause;
    }
  }

  /** Runs one statement and returns its rows. Outside of `transaction` it is a transaction. */
  query({ sql, args }: Statement): SqlRow[] {
    const prepared = this.#prepared(sql, args);
    if (prepared.reader) return (prepared.all(args) as SqlRow[]).map(plain);
    prepared.run(args);
    return [];
  }

  /** Runs all statements or, when one throws, none. Returns the rows of each. */
  transaction(mode: "read" | "write", statements: readonly Statement[]): SqlRow[][] {
    this.query(mode === "write" ? BEGIN_WRITE : BEGIN_READ);
    try {
      const results = statements.map((statement) => this.query(statement));
      this.query(COMMIT);
      return results;
    } catch (cause) {
      if (this.#database.inTransaction) this.#database.exec("rollback");
      throw cause;
    }
  }

  /** Runs a pragma to its end: some do one step for each row of their result, which is not read. */
  pragma(text: string): void {
    this.#database.exec(`pragma ${text}`);
  }

  close(): void {
    this.#kept.clear();
    this.#database.close();
  }

  #prepared(sql: string, args: Statement["args"]): Database.Statement {
    const known = this.#kept.get(sql);
    const isKept = sizeOf(args) <= KEPT_BYTES_MAX;
    if (known && isKept) return known;
    const prepared = this.#database.prepare(sql);
    if (isKept && IS_KEPT.test(sql)) this.#kept.set(sql, prepared);
    return prepared;
  }
}

const BEGIN_WRITE: Statement = { sql: "begin immediate", args: [] };
const BEGIN_READ: Statement = { sql: "begin", args: [] };
const COMMIT: Statement = { sql: "commit", args: [] };

/** Characters and bytes in arguments, roughly. */
export function sizeOf(args: Statement["args"]): number {
  let size = 0;
  for (const arg of args) {
    if (typeof arg === "string" || arg instanceof Uint8Array) size += arg.length;
  }
  return size;
}

/** The path of a `file:` URL. Another text, like `:memory:`, is returned as it is. */
export function pathOf(url: string): string {
  if (url.startsWith("file://")) return fileURLToPath(url);
  return url.startsWith("file:") ? url.slice("file:".length) : url;
}
