import type { SqlClient, SqlRow, SqlValue, Statement } from "../../src/ports.ts";

/** The used part of a Durable Object's storage. */
export interface DurableStorage {
  readonly sql: {
    exec(text: string, ...values: SqlValue[]): { toArray(): Record<string, DurableValue>[] };
  };
  /** Runs `act` in a transaction, which is undone when it throws. */
  transactionSync<T>(act: () => T): T;
}

type DurableValue = string | number | null | ArrayBuffer;

/**
 * Longest text or blob, and so about the longest row, that a Durable Object stores: 2 MB, less the
 * other columns of its row and the other values that a fold binds with it.
 */
export const DURABLE_VALUE_BYTES_MAX = 1536 * 1024;

/** Limits that keep every value that a store binds below that size. */
export const DURABLE_STORE_LIMITS = {
  sliceBytesMax: 128 * 1024,
  rowBytesMax: 1024 * 1024,
} as const;

/**
 * The database of a Durable Object. Its statements run at once, in the thread of the object, and
 * become durable later; but the runtime holds back everything that the object sends until then (the
 * output gate), so a batch counts as durable when it has run.
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

  /** Rejects with the error of the runtime, whose message contains the name of SQLite's code. */
  // deno-lint-ignore require-await -- what is thrown is to be a rejection
  async batch(mode: "read" | "write", statements: readonly Statement[]): Promise<SqlRow[][]> {
    if (this.#isClosed) throw new Error("The database is closed");
    const run = () => statements.map((one) => this.#run(one));
    // No write can come between synchronous reads.
    return mode === "read" ? run() : this.#storage.transactionSync(run);
  }

  isRefused(cause: unknown): boolean {
    return cause instanceof Error && cause.message.includes("CHECK constraint failed");
  }

  /** Rejects later batches. The database itself stays open. */
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
