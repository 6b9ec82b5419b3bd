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

/** For another thread. Posting copies a whole buffer, so a view of a part of it is copied first. */
export function portable({ sql, args }: Statement): PortableStatement {
  return { sql, args: args.map((value) => value instanceof Uint8Array ? ownView(value) : value) };
}

/** The reverse of `portable`. */
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

/** `slice` of a `Buffer` would share its memory. */
function ownView(bytes: Uint8Array): DataView {
  return viewOf(bytes.byteLength < bytes.buffer.byteLength ? new Uint8Array(bytes) : bytes);
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function bytesOf({ buffer, byteOffset, byteLength }: DataView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
