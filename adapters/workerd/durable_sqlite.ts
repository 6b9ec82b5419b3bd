import type { SqlClient, SqlRow, SqlValue, Statement } from "../../src/ports.ts";

/** What is needed of a Durable Object's storage. */
export interface DurableStorage {
  readonly sql: {
    exec(text: string, ...values: SqlValue[]): { toArray(): Record<string, DurableValue>[] };
  };
  /** Runs `act` in a transaction, which is undone when it throws. */
  transactionSync<T>(act: () => T): T;
}

type DurableValue = string | number | null | ArrayBuffer;

/**
 * Longest text or blob, and so about the longest row, that a Durable Object stores: 2 MB, less what
 * stands beside a value in its row and what a fold binds together with it.
 */
export const DURABLE_VALUE_BYTES_MAX = 1536 * 1024;

/** What keeps every value that a store binds below that limit. */
export const DURABLE_STORE_LIMITS = {
  sliceBytesMax: 128 * 1024,
  rowBytesMax: 1024 * 1024,
} as const;

/**
 * The database of a Durable Object. Its statements run at once, in the thread of the object, and
 * are durable later; but nothing the object says reaches anybody before (the output gate), so a
 * batch counts as durable when it has run.
 */
export function durableSqlite(storage: DurableStorage): SqlClient {
  return new DurableSqlite(storage);
}

class DurableSqlite implements SqlClient {
  readonly #storage: DurableStorage;
  #isClosed = false;

  constructor(storage: DurableStorage) {
    this.#storage = storage;
  }

  /** Rejects with whatever the runtime threw; the name of SQLite's code is in its message. */
  // deno-lint-ignore require-await -- what is thrown is to be a rejection
  async batch(mode: "read" | "write", statements: readonly Statement[]): Promise<SqlRow[][]> {
    if (this.#isClosed) throw new Error("The database is closed");
    const run = () => statements.map((one) => this.#run(one));
    // Nothing comes between reads that never wait.
    return mode === "read" ? run() : this.#storage.transactionSync(run);
  }

  isRefused(cause: unknown): boolean {
    return cause instanceof Error && cause.message.includes("CHECK constraint failed");
  }

  /** The object keeps its database; this only forgets it. */
  close(): Promise<void> {
    this.#isClosed = true;
    return Promise.resolve();
  }

  #run({ sql, args }: Statement): SqlRow[] {
    const rows: Record<string, unknown>[] = this.#storage.sql.exec(sql, ...args).toArray();
    for (const row of rows) {
      for (const name in row) {
        const value = row[name];
        if (value instanceof ArrayBuffer) row[name] = new Uint8Array(value);
      }
    }
    return rows;
  }
}
