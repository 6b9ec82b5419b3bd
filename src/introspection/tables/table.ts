import type { ColumnType } from "../column_type.ts";

/** A column of a table that can be asked for. */
export interface TableColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Its value, in terms of the table's `from`. */
  readonly sql: string;
  /** It is never null: orders need not say where nulls go, so that an index can give them. */
  readonly notNull?: boolean;
  /**
   * All that it can be besides null, when that is little: an index can then be asked for all but one, and
   * a comparison with anything else is warned about.
   */
  readonly values?: readonly string[];
  /** Of bytes: the column with their length, which takes less to read. */
  readonly length?: string;
  /** Other spellings of its name. They are found, but not listed. */
  readonly aliases?: readonly string[];
}

/** What the rows asked for must have in common: column name to the values it may have. */
export type PushedKeys = ReadonlyMap<string, readonly string[]>;

/**
 * Rows that a table is made of, where it does not show stored rows one by one: groups of them, or a
 * stored table that is in the first database only. Of several databases, each gives its own rows, so a
 * table must add up groups again.
 */
export interface Part {
  /** What the table calls it. */
  readonly name: string;
  /** Stored rows, called `t`, or a subquery of them. */
  readonly from: string;
  /** Columns of `t`. */
  readonly columns: readonly string[];
  /** As in `Table`. */
  readonly keys: readonly string[];
  readonly isShared?: boolean;
}

/** Within the `from` of a table with parts: stands for `WITH` terms of these, each ended by a comma. */
export const PARTS = "{parts}";

/** A table or view over the stored rows (docs/spec/queries.md#tables). */
export interface Table {
  readonly name: string;
  readonly kind: "BASE TABLE" | "VIEW";
  readonly from: string;
  readonly where?: string;
  /**
   * Columns that identify a row, in the order of an index: by them its rows are read page by page from
   * a remote database. Absent: it shows no stored row unchanged.
   */
  readonly keys?: readonly string[];
  /** What `from` reads, called by their names. It has no `keys`. */
  readonly parts?: readonly Part[];
  /** What is known of a row in which a column, by its name, is true or larger than 0. */
  readonly implies?: Readonly<Record<string, { readonly column: string; readonly value: string }>>;
  /**
   * The same table, made of fewer rows, for a statement that uses these columns only and wants rows with
   * these values only.
   */
  readonly narrowed?: (
    wanted: { readonly used: ReadonlySet<string>; readonly pushed: PushedKeys },
  ) => Table;
  /** What an installation has once: it is in the first of its databases. */
  readonly isShared?: boolean;
  readonly columns: readonly TableColumn[];
  /** A condition that an index answers, for rows that are `pushed`. The statement checks again. */
  readonly seek?: (pushed: PushedKeys) => string | undefined;
  /** A column whose values must be well-formed ids of invocations when they are asked for. */
  readonly ids?: string;
}

/** Within the SQL of a table: when the statement is run, in milliseconds since the epoch. */
export const NOW = "{now}";

/** A value of the document of an invocation `t`, by its path: null if it is not there. */
export function body(path: string): string {
  return `(t.body ->> '$.${path}')`;
}

/** Text as SQL. It has no NUL and no lone surrogate: see `storage/codec/safe_text.ts`. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A list for IN. */
export function quoteTexts(texts: readonly string[]): string {
  return `(${texts.map(quoteText).join(", ")})`;
}

/** Base 62 digits in order of value, as SQL. */
export const DIGITS = "'0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'";

/**
 * The partition key in an invocation id: 11 base 62 digits after `inv_1`
 * (docs/spec/service-protocol.md#invocation-ids) are its bytes as a little-endian number; it is the
 * big-endian one, as 20 decimal digits.
 */
export function partitionKeyOf(id: string): string {
  // SQLite's integers are signed, so the number is held in halves: 62^6 is 13 * 2^32 + 965660736, and
  // 2^32 is 429496 * 10^4 + 7296. Its bit operators all bind alike.
  const turned = (half: string) =>
    `((${half} & 255) * 16777216 + (${half} >> 8 & 255) * 65536 + (${half} >> 16 & 255) * 256
      + (${half} >> 24))`;
  return `(select printf('%010d%010d', x / 1000000 + r / 10000000000, r % 10000000000) from (
    select x, x % 1000000 * 10000 + a * 7296 + b as r from (
    select a * 429496 as x, a, b from (
    select ${turned("l")} as a, ${turned("h")} as b from (
    select n & 4294967295 as l, d * 13 + (n >> 32) as h from (
    select d, d * 965660736 + e as n from (
    select ${digitsOf(id, 6, 5)} as d, ${digitsOf(id, 11, 6)} as e)))))))`;
}

/** `count` base 62 digits of a text, from place `from` (counted from 1) on, as an integer. */
function digitsOf(text: string, from: number, count: number): string {
  let value = "0";
  for (let i = from; i < from + count; i++) {
    value = `(${value} * 62 + instr(${DIGITS}, substr(${text}, ${i}, 1)) - 1)`;
  }
  return value;
}
