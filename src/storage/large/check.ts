import { sql } from "kysely";
import type { SqlClient } from "../../ports.ts";
import { compile, statement } from "../codec/sql_text.ts";
import { BYTE_COLUMNS } from "../schema/large_tables.ts";
import { DamagedValue, readLarge } from "./read.ts";

const REFERENCES = BYTE_COLUMNS.map(([table]) =>
  `select large ->> 0 as id, (large ->> 1) + (large ->> 2) as size, '${table}' as name
  from ${table} where large is not null`
).join(" union all ");

/** Each value once, with the bytes that it must have at least, after ?1 in the order of ids. */
const NEXT = compile(sql`
  select id, max(size) as size, group_concat(distinct name) as tables
  from (${sql.raw(REFERENCES)}) where id > ?1 group by id order by id limit 1`);

/**
 * Reads every large value to which a row of the tables refers, in a database to which nobody writes.
 * Yields what is wrong with one: a piece is missing or does not match its checksum, or the value is
 * shorter than a row says.
 */
export async function* largeProblems(client: SqlClient): AsyncGenerator<string> {
  for (let after = "";;) {
    const [[row] = []] = await client.batch("read", [statement(NEXT, after)]);
    if (!row) return;
    after = row["id"] as string;
    const problem = await problemOf(client, after, Number(row["size"]));
    if (problem !== undefined) yield `table ${row["tables"]}: ${problem}`;
  }
}

async function problemOf(
  client: SqlClient,
  id: string,
  size: number,
): Promise<string | undefined> {
  try {
    const { length } = await readLarge(client, id);
    if (length >= size) return undefined;
    return `the large value ${id} has ${length} bytes of ${size}`;
  } catch (cause) {
    if (!(cause instanceof DamagedValue)) throw cause;
    return cause.message;
  }
}
