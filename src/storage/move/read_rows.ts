import { sql } from "kysely";
import type { SqlClient, SqlRow, SqlValue } from "../../ports.ts";
import { BYTE_COLUMNS } from "../schema/large_tables.ts";
import { type RetryLimits, withRetries } from "../retry.ts";
import { compile, statement } from "../codec/sql_text.ts";
import type { RowTable } from "./row_table.ts";

/** Limits of one read. It returns at least one row, which may be larger. */
const PAGE_ROWS = 500;
const PAGE_BYTES = 2 * 1024 * 1024;

/** Estimated bytes of a row: text counts as one byte a character, a number as eight. */
export function bytesOf(row: SqlRow): number {
  let bytes = 0;
  for (const value of Object.values(row)) {
    if (typeof value === "string") bytes += value.length;
    else if (value !== null) bytes += value instanceof Uint8Array ? value.length : 8;
  }
  return bytes;
}

interface Texts {
  readonly first: string;
  readonly next: string;
}

interface Reading {
  /** Whether texts are returned as bytes, because a row may be damaged (`fromUtf8`). */
  readonly asBytes?: boolean;
}

/** Tables with large values: their views `whole_*` have the bytes. */
const WITH_BYTES: ReadonlySet<string> = new Set(BYTE_COLUMNS.map(([name]) => name));

const texts = new Map<RowTable, Texts>();
const textsAsBytes = new Map<RowTable, Texts>();

/**
 * All rows of a table of one database, page by page in the order of their key, with the column
 * `partition` where the table has one. Rows that are written meanwhile may be missing. Retries lost
 * reads, and rejects as the client does.
 */
export async function* readRows(
  client: SqlClient,
  table: RowTable,
  { asBytes = false, ...retry }: RetryLimits & Reading,
): AsyncGenerator<readonly SqlRow[]> {
  const { first, next } = textsOf(table, asBytes);
  let after: readonly SqlValue[] | undefined;
  for (;;) {
    const page = after ? statement(next, ...after) : statement(first);
    const [rows = []] = await withRetries(client, () => client.batch("read", [page]), retry);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = table.order.map((name) => last[name] as SqlValue);
  }
}

function textsOf(table: RowTable, asBytes: boolean): Texts {
  const all = asBytes ? textsAsBytes : texts;
  let known = all.get(table);
  if (!known) {
    const key = table.order.map((name, i) =>
      asBytes && isText(table, name) ? `cast(?${i + 1} as text)` : `?${i + 1}`
    ).join(", ");
    known = {
      first: page(table, "", asBytes),
      next: page(table, `where (${table.order.join(", ")}) > (${key})`, asBytes),
    };
    all.set(table, known);
  }
  return known;
}

function isText({ columns }: RowTable, column: string): boolean {
  return columns.some(({ name, kind }) => name === column && kind === "text");
}

/** Selects a page by the sizes of its rows, which SQLite knows without reading their content. */
function page(table: RowTable, where: string, asBytes: boolean): string {
  const { name, columns, order, hasPartition } = table;
  const source = WITH_BYTES.has(name) ? `whole_${name}` : name;
  const key = order.join(", ");
  const size = columns.filter(({ kind }) => kind !== "integer")
    .map(({ name, kind }) => {
      // The view knows the size of its bytes, and computes the bytes.
      const size = kind === "bytes" && source !== table.name ? "size" : `octet_length(${name})`;
      return `coalesce(${size}, 0)`;
    }).join(" + ");
  const all = [...hasPartition ? ["partition"] : [], ...columns.map(({ name }) => name)];
  const on = order.map((part) => `t.${part} = pile.${part}`).join(" and ");
  return compile(sql.raw(`
    with page as (
      select ${key}, ${size} as size from ${source} ${where} order by ${key} limit ${PAGE_ROWS}),
    pile as (select ${key}, size, sum(size) over (order by ${key}) as height from page)
    select ${
    all.map((column) =>
      asBytes && isText(table, column) ? `cast(t.${column} as blob) as ${column}` : `t.${column}`
    ).join(", ")
  }
    from pile cross join ${source} as t on ${on}
    where pile.height <= ${PAGE_BYTES} or pile.height = pile.size
    order by ${order.map((part) => `pile.${part}`).join(", ")}`));
}
