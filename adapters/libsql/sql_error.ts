import type { SqlRow } from "../../src/ports.ts";

/** An error of the database. `code` as SQLite spells it: `SQLITE_FULL`, `SQLITE_IOERR_FSYNC`. */
export class SqlError extends Error {
  override name = "SqlError";
  readonly code: string;

  constructor(message: string, code: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether a batch failed at a `check`. */
export function isRefused(cause: unknown): boolean {
  return cause instanceof SqlError && cause.code.startsWith("SQLITE_CONSTRAINT") &&
    cause.message.includes("CHECK constraint failed");
}

/** A row without the properties that the client adds to it, with bytes as `Uint8Array`. */
export function plain(row: Readonly<Record<string, unknown>>): SqlRow {
  const columns: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    columns[name] = value instanceof ArrayBuffer
      ? new Uint8Array(value)
      : value instanceof Uint8Array
      ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
      : value;
  }
  return columns;
}

/** Runs `act`, and throws errors of the client as `SqlError`. */
export async function named<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    throw cause instanceof Error ? toSqlError(cause) : cause;
  }
}

/** An error of the client as `SqlError`. */
export function toSqlError(cause: Error & { code?: unknown; extendedCode?: unknown }): SqlError {
  const code = cause.extendedCode ?? cause.code ?? "UNKNOWN";
  return new SqlError(cause.message, String(code), { cause });
}
