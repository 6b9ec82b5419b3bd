import type { SqlRow, Statement } from "../../../src/ports.ts";
import { isTooLarge } from "./error.ts";

/** Rows of the first pages, after a result that was too large. */
const PAGE_ROWS = 256;

/**
 * Reads queries whose results exceed the response limit of a server (10 MB by default), page by page,
 * with fewer rows each until they fit. The pages are separate transactions, so the rows must not be
 * written meanwhile. This holds where an owner reads its partition (`storage/log`).
 *
 * Rejects like `read`; also when a single row is too large.
 */
export async function readInPages(
  statements: readonly Statement[],
  read: (statement: Statement) => Promise<readonly SqlRow[]>,
): Promise<SqlRow[][]> {
  const results: SqlRow[][] = [];
  for (const statement of statements) results.push(await pages(statement, read));
  return results;
}

async function pages(
  { sql, args }: Statement,
  read: (statement: Statement) => Promise<readonly SqlRow[]>,
): Promise<SqlRow[]> {
  const found: SqlRow[] = [];
  let size = PAGE_ROWS;
  for (;;) {
    const page = `select * from (${sql}) limit ${size} offset ${found.length}`;
    try {
      const rows = await read({ sql: page, args });
      found.push(...rows);
      if (rows.length < size) return found;
    } catch (cause) {
      if (!isTooLarge(cause) || size === 1) throw cause;
      size = Math.ceil(size / 4);
    }
  }
}
