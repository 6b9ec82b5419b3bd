import { concatBytes } from "../bytes.ts";
import type { QueryDatabase } from "./database.ts";
import { fillEntries } from "./journal/entry_rows.ts";
import { fillLive } from "./live_rows.ts";
import { failed, refused } from "./refusal.ts";
import { ArrowFormat } from "./render/arrow_format.ts";
import type { Format } from "./render/format.ts";
import { JsonFormat } from "./render/json_format.ts";
import { PAGE_BYTES, type QueryLimits, type QueryRequest } from "./request.ts";
import { readStatement } from "./syntax/read_statement.ts";
import { JOURNAL } from "./tables/journal_tables.ts";
import { prepare, type Prepared } from "./translate/statement.ts";

/** Columns of SQLite's plan. */
const PLAN = ["id", "parent", "notused", "detail"].map((name) => ({
  name,
  type: name === "detail" ? "str" as const : "i64" as const,
  ref: name,
}));

/**
 * Answers a query: the first part when its whole result is on disk, so that whoever reads slowly holds
 * up nobody, then part by part as they are asked for. Throws a `Failure`, all of them before the first
 * part but those of limits and of the disk.
 */
export async function* runQuery(
  database: QueryDatabase,
  request: QueryRequest,
  limits: Pick<QueryLimits, "rowsMax">,
): AsyncGenerator<Uint8Array> {
  const prepared = read(request);
  // One transaction, so that all of it sees the same rows.
  await database.run("begin");
  await fillLive(database, request.running);
  const journals = prepared.relations.filter(({ table }) => table.name === JOURNAL);
  if (journals.length > 0) await fillEntries(database, journals);
  await spool(database, prepared, limits.rowsMax);
  await database.run("commit");
  const format: Format = request.format === "json" ? new JsonFormat() : new ArrowFormat();
  yield* write(database, prepared, format);
}

function read({ sql, now, version }: QueryRequest): Prepared {
  try {
    const statement = readStatement(sql);
    const prepared = prepare(statement, { now, version });
    if (statement.kind !== "explain") return prepared;
    return { ...prepared, columns: PLAN, sql: `explain query plan ${prepared.sql}` };
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    // The stack is what ran out.
    throw refused("Cannot run the query: it is nested too deep", { cause });
  }
}

/** Puts the result into the table `result`, with the size of each row. */
async function spool(
  database: QueryDatabase,
  { sql, columns }: Prepared,
  rowsMax: number,
): Promise<void> {
  const names = columns.map((_, i) => `v${i}`);
  await database.run(`create table main.result (n integer primary key, size, ${names.join(", ")})`);
  if (columns === PLAN) return await spoolPlan(database, sql);
  const values = columns.map(({ ref, type }) => safely(ref, type));
  const sizes = columns.map(({ ref, type }) => isSmall(type) ? "8" : `ifnull(length(${ref}), 0)`);
  await database.run(
    `insert into main.result (size, ${names.join(", ")})
      select ${sizes.join(" + ")}, ${values.join(", ")} from (${sql}) limit ${rowsMax + 1}`,
  );
  const count = await database.row("select max(n) from main.result");
  if (Number(count?.[0] ?? 0) <= rowsMax) return;
  throw failed(
    `Cannot run the query: its result has more than ${rowsMax} rows; add a condition or a LIMIT, or ` +
      `raise admin.query-engine.rows`,
  );
}

/** SQLite tells its plan to nobody but who asks for it directly. Its text is ours and SQLite's. */
async function spoolPlan(database: QueryDatabase, sql: string): Promise<void> {
  const rows = await database.rows(sql);
  const insert =
    `insert into main.result (size, v0, v1, v2, v3) values (8, ?1, ?2, ?3, cast(?4 as blob))`;
  await database.runAll(
    insert,
    rows.map(([id, parent, unused, detail]) => [
      Number(id),
      Number(parent),
      Number(unused),
      String(detail),
    ]),
  );
}

function isSmall(type: Prepared["columns"][number]["type"]): boolean {
  return !["str", "raw", "future", "bin", "u32s", "strs", "null"].includes(type);
}

/**
 * A value that may be fetched. Text may be anything: a cast can make it of any bytes, and the addon ends
 * the process when it reads text that is not UTF-8. So no value ever leaves the database as text.
 */
function safely(ref: string, type: Prepared["columns"][number]["type"]): string {
  if (!isSmall(type) && type !== "null") return `cast(${ref} as blob)`;
  return `case typeof(${ref}) when 'text' then cast(${ref} as blob) else ${ref} end`;
}

async function* write(
  database: QueryDatabase,
  { columns }: Prepared,
  format: Format,
): AsyncGenerator<Uint8Array> {
  const values = columns.map((_, i) => `v${i}`).join(", ");
  const select = `select ${values} from main.result where n > ?1 and n <= ?2 order by n`;
  let pending = format.begin(columns);
  for await (const [after, until] of pages(database)) {
    database.check();
    const page = format.page(await database.rows(select, [after, until]));
    yield pending;
    pending = page;
  }
  // A small answer is one part.
  yield concatBytes([pending, format.end()]);
}

const SIZES = `select n, size from main.result where n > ?1 order by n limit 1000`;

/** Runs of rows that fit into memory, each as what is before it and its last one. */
async function* pages(database: QueryDatabase): AsyncGenerator<readonly [number, number]> {
  let after = 0;
  for (;;) {
    const sizes = await database.rows(SIZES, [after]);
    if (sizes.length === 0) return;
    let until = after;
    let bytes = 0;
    for (const [n, size] of sizes) {
      if (bytes > 0 && bytes + Number(size) > PAGE_BYTES) break;
      until = Number(n);
      bytes += Number(size);
    }
    yield [after, until];
    after = until;
  }
}
