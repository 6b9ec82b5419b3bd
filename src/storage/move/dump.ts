import { fromBase64, toBase64 } from "../../model/base64.ts";
import type { SqlRow } from "../../ports.ts";
import { digestRow, shortDigest, type TableSum } from "./row_digest.ts";
import { type Column, type RowTable, rowTable } from "./row_table.ts";

/**
 * Raised when rows of an earlier version cannot be imported as they are, because of another column or
 * another form of its content. A test requires a decision whenever a migration is added.
 */
export const DUMP_VERSION = 1;

/** The first line of a dump. */
export interface Head {
  readonly perdure: "dump";
  readonly version: number;
  readonly partitions: number;
  /** The highest epoch under which any of these rows was written. */
  readonly epoch: number;
  /** Version of the server that made the dump, for people. */
  readonly madeBy: string;
}

/** The last line of a dump: number of rows and digest of each table before it. */
export interface Tail {
  readonly end: Readonly<Record<string, TableSum>>;
}

export interface RowLine {
  readonly table: RowTable;
  readonly row: SqlRow;
  readonly digest: Uint8Array;
}

/** A line of a dump that cannot be read. The message is its problem. */
export class BadLine extends Error {
  override name = "BadLine";
}

export function printRow({ table, row, digest }: RowLine): string {
  const columns = table.columns.map(({ name }) => {
    const value = row[name] ?? null;
    return [name, value instanceof Uint8Array ? { base64: toBase64(value) } : value];
  });
  const sum = shortDigest(digest);
  return JSON.stringify({ table: table.name, row: Object.fromEntries(columns), sum });
}

/** Throws `BadLine`. */
export function readHead(line: string): Head {
  const head = parsed(line);
  if (head["perdure"] !== "dump") throw new BadLine("it is not a dump");
  if (head["version"] !== DUMP_VERSION) {
    throw new BadLine(`its version is ${head["version"]}, this server reads ${DUMP_VERSION}`);
  }
  if (!Number.isSafeInteger(head["epoch"])) throw new BadLine("its epoch is missing");
  return head as unknown as Head;
}

/** A row, as `printRow` wrote it and as its table can hold it, or the last line. Throws `BadLine`. */
export function readLine(line: string): RowLine | Tail {
  const { end, table: name, row: given, sum } = parsed(line);
  if (isObject(end)) return { end: end as unknown as Tail["end"] };
  const table = typeof name === "string" ? rowTable(name) : undefined;
  if (!table) throw new BadLine(`there is no table ${JSON.stringify(name)}`);
  if (!isObject(given)) throw new BadLine("it holds no row");
  const row = Object.fromEntries(
    table.columns.map((column) => [column.name, valueOf(column, given[column.name])]),
  );
  const digest = digestRow(table, row);
  if (shortDigest(digest) !== sum) throw new BadLine("its sum is not that of its row");
  return { table, row, digest };
}

function parsed(line: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new BadLine("it is no JSON", { cause });
    throw cause;
  }
  if (!isObject(value)) throw new BadLine("it is no object");
  return value;
}

function valueOf({ name, kind, isOptional }: Column, given: unknown): SqlRow[string] {
  if (given === null && isOptional) return null;
  const value = kind === "bytes" ? bytesOf(given) : given;
  const isFit = kind === "bytes"
    ? value instanceof Uint8Array
    : kind === "text"
    ? typeof value === "string" && !UNSAFE.test(value)
    : Number.isSafeInteger(value);
  if (!isFit) throw new BadLine(`column "${name}" holds no ${kind}`);
  return value;
}

/** Characters that stored text must not have (`safe_text.ts`). */
const UNSAFE = /\0|\p{Surrogate}/u;

function bytesOf(given: unknown): Uint8Array | undefined {
  const digits = isObject(given) ? given["base64"] : undefined;
  return typeof digits === "string" ? fromBase64(digits) : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
