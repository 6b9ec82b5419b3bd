import type { SqlValue, Statement } from "../../ports.ts";
import type { Row } from "../render/format.ts";
import { conditionsOf, copyOf, usedColumns } from "../translate/source.ts";
import type { StoredRelation } from "../translate/scope.ts";
import { likely } from "../translate/pushdown_filter.ts";
import { type GivenRows, givenTerm } from "../given_rows.ts";
import { neededBy } from "./given_elsewhere.ts";

/** Stored rows elsewhere, and the table of the scratch space that they are copied to. */
export interface Copy {
  readonly table: string;
  readonly columns: readonly CopiedColumn[];
  /** Columns that identify a row of the table, where a query reads single rows. */
  readonly primaryKey?: readonly string[];
  readonly from: string;
  /** What holds for the rows that are wanted, over `from`. */
  readonly conditions: readonly string[];
  /** The same, over the columns of the copy. */
  readonly filter: readonly string[];
  /** Only the first rows, in an order of these columns, are wanted. */
  readonly firstRows?: StoredRelation["firstRows"];
  /** Any so many rows, of all databases together, are all that is wanted. */
  readonly rowsMax?: number;
  /** What rows and columns are called together, where `filter` and `firstRows` name them so. */
  readonly name: string;
  /** See `Table.keys`. */
  readonly keys: readonly string[];
  /** It is the same in every database. */
  readonly isShared: boolean;
}

export interface CopiedColumn {
  readonly ref: string;
  /** Over `from`. */
  readonly sql: string;
  /** `bytes`: of any length. `text`: bytes that may be no text, and are to be one. */
  readonly holds?: "bytes" | "text";
}

/** A page is about so large at most: a server gives it within milliseconds. */
const PAGE_BYTES = 512 * 1024;
/** Rows of one page at most, and at first: of those that may be large, fewer. */
const ROWS_MAX = 4000;
const ROWS_FIRST = 250;
const LARGE_ROWS_FIRST = 16;
/** Equal rows are sent once, with their count, while there are so many times fewer of them. */
const GROUPING_GAIN_MIN = 4;
/** How much faster pages may grow than what was seen of them says. */
const GROWTH_MAX = 4;

/** What one mention of a table needs: the columns that are used, of the rows that are wanted. */
export function copyOfRelation(relation: StoredRelation): Copy {
  const { table: { from, keys = [], isShared = false }, name, filter, firstRows } = relation;
  const columns = usedColumns(relation).map(({ ref, sql, type }): CopiedColumn => {
    if (type === "raw") return { ref, sql, holds: "text" };
    return { ref, sql, ...(type === "bin" && { holds: "bytes" }) };
  });
  // All of them are one page, which must not be large.
  const isPage = firstRows &&
    firstRows.rowsMax <= (areLarge(columns) ? LARGE_ROWS_FIRST : ROWS_MAX);
  return {
    table: copyOf(relation),
    columns,
    from,
    conditions: conditionsOf(relation),
    filter,
    ...(isPage && { firstRows }),
    ...(firstRows && firstRows.order === "" && { rowsMax: firstRows.rowsMax }),
    name,
    keys,
    isShared,
  };
}

/** Makes the table of a copy. */
export function makeCopy({ table, columns, primaryKey }: Copy): string {
  const list = columns.map(({ ref }) => ref);
  if (primaryKey) list.push(`primary key (${primaryKey.join(", ")})`);
  // A table has a column, even if only its rows are counted.
  return `create table main.${table} (${list.join(", ") || "none"})`;
}

/** Puts one row of a page at `place` into it. Its values are those of `valuesOf`. */
export function insertCopy({ table, columns }: Copy, { isGrouped }: PageStart): string {
  const names = columns.length === 0 ? ["none"] : columns.map(({ ref }) => ref);
  // What is no text would end the process if it came as one.
  const values = columns.length === 0
    ? ["null"]
    : columns.map(({ holds }, i) => holds === "text" ? `cast(?${i + 1} as text)` : `?${i + 1}`);
  return `insert into main.${table} (${names.join(", ")}) select ${values.join(", ")}` +
    (isGrouped ? ` from generate_series(1, ?${columns.length + 1})` : "");
}

/** Where the next page of a copy begins, and how many rows it has at most. */
export interface PageStart {
  /** Keys of the last row that was read. */
  readonly after?: readonly SqlValue[];
  readonly limit: number;
  /**
   * Rows that are equal but for their keys are one row, with the largest key and how many they are
   * behind its columns: a count over 50,000 rows then copies a few.
   */
  readonly isGrouped: boolean;
}

export function firstPage({ columns, keys, firstRows }: Copy): PageStart {
  if (firstRows) return { limit: firstRows.rowsMax, isGrouped: false };
  if (areLarge(columns)) return { limit: LARGE_ROWS_FIRST, isGrouped: false };
  return { limit: ROWS_FIRST, isGrouped: keys.length === 1 };
}

/** How many stored rows a page at `place` is made of. */
export function rowsIn(page: readonly Row[], { isGrouped }: PageStart): number {
  if (!isGrouped) return page.length;
  return page.reduce((rows, row) => rows + Number(row.at(-1)), 0);
}

/** Whether rows with these columns may be large. */
function areLarge(columns: readonly CopiedColumn[]): boolean {
  return columns.some(({ holds }) => holds !== undefined);
}

/** The place after a page; undefined: that was the last one. */
export function nextPage(
  { keys, firstRows }: Copy,
  page: readonly Row[],
  place: PageStart,
): PageStart | undefined {
  const { limit, isGrouped } = place;
  const last = page.at(-1);
  if (firstRows || !last || rowsIn(page, place) < limit) return undefined;
  let bytes = 0;
  for (const row of page) for (const value of row) bytes += sizeOf(value);
  const fitting = Math.floor(limit * PAGE_BYTES / bytes);
  return {
    after: last.slice(0, keys.length).map(bound),
    limit: Math.max(1, Math.min(fitting, limit * GROWTH_MAX, ROWS_MAX)),
    isGrouped: isGrouped && page.length * GROUPING_GAIN_MIN <= limit,
  };
}

/** Reads a page: the keys of each row, then its columns, and see `PartitionRange`. */
export function readPage(
  copy: Copy,
  { after, limit, isGrouped }: PageStart,
  given: readonly GivenRows[],
): Statement {
  const { columns, from, conditions, filter, firstRows, keys, name } = copy;
  const args: SqlValue[] = [];
  const place = (value: SqlValue) => `?${args.push(value)}`;
  const known = keys.map((key, i) => ({ ref: `k${i}`, sql: key }));
  const inner = [...known, ...columns].map(({ ref, sql }) => `${sql} as ${ref}`).join(", ");
  const terms = neededBy(copy, given).map((one) => givenTerm(one, place(one.rows)));
  const beyond = after ? [`(${keys.join(", ")}) > (${after.map(place).join(", ")})`] : [];
  const outer = [...known, ...columns].map(valueSql).join(", ");
  const order = firstRows ? firstRows.order : known.map(({ ref }) => ref).join(", ");
  const page = `select ${outer} from ` +
    `(select ${inner} from ${from}${whereSql([...conditions, ...beyond])}) as ${name}` +
    `${whereSql(firstRows?.order ? filter.map(likely) : filter)}${
      order && ` order by ${order}`
    } limit ${limit}`;
  const begin = terms.length > 0 ? `with ${terms.join(", ")} ` : "";
  return { sql: `${begin}${isGrouped ? grouped(copy, page) : page}`, args };
}

/** The largest key is last, as that of the last row is. */
function grouped({ columns }: Copy, page: string): string {
  const refs = columns.map(({ ref }) => ref);
  // All rows are one group if they have no columns, and none if there are no rows.
  const by = refs.join(", ") || "null";
  return `select ${["max(k0)", ...refs, "count(*)"].join(", ")} from (${page}) group by ${by} ` +
    "order by 1";
}

function valueSql({ ref, holds }: Pick<CopiedColumn, "ref" | "holds">): string {
  return holds === "text" ? `cast(${ref} as blob) as ${ref}` : ref;
}

function whereSql(conditions: readonly string[]): string {
  return conditions.length > 0 ? ` where ${conditions.join(" and ")}` : "";
}

/** What `insertCopy` takes of a row of a page. */
export function valuesOf({ keys }: Copy, row: Row): SqlValue[] {
  return row.slice(keys.length).map(bound);
}

/** Integers of rows are exact as numbers: larger ones are text. */
function bound(value: Row[number]): SqlValue {
  return typeof value === "bigint" ? Number(value) : value;
}

function sizeOf(value: Row[number]): number {
  return typeof value === "string" || value instanceof Uint8Array ? value.length : 8;
}
