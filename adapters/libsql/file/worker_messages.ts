import { Buffer } from "node:buffer";
import type { SqlRow, SqlValue, Statement } from "../../../src/ports.ts";

/**
 * Bytes are sent between threads as `DataView`. A `Uint8Array` in a message costs Deno a hundred
 * milliseconds a mebibyte, because its `node:worker_threads` visits every element.
 */
export type Portable = Exclude<SqlValue, Uint8Array> | DataView;

export interface PortableStatement {
  readonly sql: string;
  readonly args: readonly Portable[];
}

export interface PackedStatements {
  readonly statements: readonly PortableStatement[];
  /** The memory of their bytes, to be moved to the other thread. */
  readonly moved: readonly ArrayBuffer[];
}

/**
 * Statements for another thread. All of their bytes are copied once, into memory that moves there:
 * posting them as they are would copy them three times. The statements can be used again.
 */
export function packStatements(statements: readonly Statement[]): PackedStatements {
  const bytes = Buffer.allocUnsafeSlow(bytesIn(statements));
  let end = 0;
  const pack = (value: SqlValue): Portable => {
    if (!(value instanceof Uint8Array)) return value;
    const start = end;
    bytes.set(value, start);
    end += value.byteLength;
    return new DataView(bytes.buffer, start, value.byteLength);
  };
  const packed = statements.map(({ sql, args }) => ({ sql, args: args.map(pack) }));
  return { statements: packed, moved: bytes.length > 0 ? [bytes.buffer] : [] };
}

function bytesIn(statements: readonly Statement[]): number {
  let sum = 0;
  for (const { args } of statements) {
    for (const value of args) if (value instanceof Uint8Array) sum += value.byteLength;
  }
  return sum;
}

/** The reverse of `packStatements`, for one of them. */
export function received({ sql, args }: PortableStatement): Statement {
  return { sql, args: args.map((value) => value instanceof DataView ? bytesOf(value) : value) };
}

/**
 * Replaces the bytes in rows by views, and returns their buffers, which can then be moved to the other
 * thread instead of being copied. No other code may use the rows.
 */
export function packRows(results: readonly (readonly SqlRow[])[]): ArrayBuffer[] {
  const buffers: ArrayBuffer[] = [];
  eachValue(results, (value, set) => {
    if (!(value instanceof Uint8Array)) return;
    buffers.push(value.buffer as ArrayBuffer);
    set(viewOf(value));
  });
  return buffers;
}

/** The reverse of `packRows`. */
export function unpackRows(results: readonly (readonly SqlRow[])[]): void {
  eachValue(results, (value, set) => {
    if (value instanceof DataView) set(bytesOf(value));
  });
}

function eachValue(
  results: readonly (readonly SqlRow[])[],
  visit: (value: unknown, set: (value: unknown) => void) => void,
): void {
  for (const rows of results) {
    for (const row of rows as readonly Record<string, unknown>[]) {
      for (const name in row) visit(row[name], (value) => row[name] = value);
    }
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function bytesOf({ buffer, byteOffset, byteLength }: DataView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
