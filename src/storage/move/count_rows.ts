import { sql } from "kysely";
import type { SqlClient } from "../../ports.ts";
import { compile, statement } from "../codec/sql_text.ts";
import { withRetries } from "../retry.ts";
import type { Installation } from "./installation.ts";
import { ROW_TABLES, type RowTable } from "./row_table.ts";

/** Number of rows to move, by which progress knows its end. Reads an index only, no rows. */
export async function countRows({ clients, retry }: Installation): Promise<number> {
  let sum = 0;
  for (const client of clients) {
    for (const table of ROW_TABLES) {
      sum += await withRetries(client, () => countTable(client, table), retry);
    }
  }
  return sum;
}

/** Number of rows of one table. Rejects as the client does. */
export async function countTable(client: SqlClient, { name }: RowTable): Promise<number> {
  const count = compile(sql.raw(`select count(*) as n from ${name}`));
  const [[row] = []] = await client.batch("read", [statement(count)]);
  return Number(row?.["n"] ?? 0);
}
