import { sql } from "kysely";
import type { SqlClient } from "../../ports.ts";
import { compile, statement } from "../codec/sql_text.ts";
import { withRetries } from "../retry.ts";
import type { Installation } from "./installation.ts";
import { ROW_TABLES, type RowTable } from "./row_table.ts";

/** Rows of all tables that are moved, so that progress has an end. Reads no row, only an index. */
export async function countRows({ clients, retry }: Installation): Promise<number> {
  let sum = 0;
  for (const client of clients) {
    for (const table of ROW_TABLES) {
      sum += await withRetries(client, () => countTable(client, table), retry);
    }
  }
  return sum;
}

/** Rows of one table. Rejects as the client does. */
export async function countTable(client: SqlClient, { name }: RowTable): Promise<number> {
  const count = compile(sql.raw(`select count(*) as n from ${name}`));
  const [[row] = []] = await client.batch("read", [statement(count)]);
  return Number(row?.["n"] ?? 0);
}
