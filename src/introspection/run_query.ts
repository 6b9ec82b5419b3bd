import { concatBytes } from "../bytes.ts";
import type { Query } from "../query_port.ts";
import { copyStored } from "./copy/copy_stored.ts";
import type { QuerySource } from "./copy/source.ts";
import type { QueryDatabase } from "./database.ts";
import { entryRows, INSERT_ENTRY, MAKE_ENTRY } from "./journal/entry_rows.ts";
import { fillLive } from "./live_rows.ts";
import { planRow } from "./plan_text.ts";
import { type Asked, readRequest } from "./read_request.ts";
import { tooManyRows } from "./refusal.ts";
import { formatOf, safely, sizeSql } from "./render/answer.ts";
import type { Format } from "./render/format.ts";
import { PAGE_BYTES, type QueryLimits, type QueryRequest } from "./request.ts";
import { JOURNAL } from "./tables/journal_tables.ts";
import type { Prepared } from "./translate/statement.ts";
import { explained, type UnreadableRow } from "./unreadable.ts";

export interface RunOptions {
  readonly limits: Pick<QueryLimits, "rowsMax">;
  /** Where the stored rows are. Absent: attached to the database. */
  readonly sources?: readonly QuerySource[];
  /** Called for every stored row that cannot be decoded. */
  readonly unreadable: (row: UnreadableRow) => void;
  /** As in `Query`. */
  readonly warn?: Query["warn"];
}

/**
 * Answers a query: the first part when its whole result is on disk, so that a slow reader delays no
 * other work, then the other parts as the reader takes them. Throws a `Failure`: before the first part,
 * unless a limit or the disk is the reason.
 */
export async function* runQuery(
  database: QueryDatabase,
  request: QueryRequest,
  options: RunOptions,
): AsyncGenerator<Uint8Array> {
  const { sources, unreadable, warn = () => {} } = options;
  const asked = readRequest(request, sources !== undefined);
  for (const warning of asked.warnings) warn(warning);
  try {
    await answer(database, { ...options, asked, running: request.running });
  } catch (cause) {
    const ask = async (sql: string) => {
      if (!sources) return await database.rows(sql);
      return (await Promise.all(sources.map((one) => one.read([{ sql, args: [] }])))).flat(2);
    };
    throw await explained(cause, asked.relations, { ask, unreadable });
  }
  yield* write(database, asked, formatOf(request.format, asked.warnings));
}

/** Puts the whole answer on disk. */
async function answer(
  database: QueryDatabase,
  { asked, running, limits, sources, unreadable }: RunOptions & {
    readonly asked: Asked;
    readonly running: QueryRequest["running"];
  },
): Promise<void> {
  // One transaction, so that all of it sees the same rows.
  await database.run("begin");
  if (sources) await copyStored(database, asked, { sources, running });
  else await fillLive(database, running);
  await fillEntries(database, asked, unreadable);
  await spool(database, asked, limits.rowsMax);
  await database.run("commit");
}

/** Reads the journals that are asked for into the table `entry`. */
async function fillEntries(
  database: QueryDatabase,
  { relations }: Asked,
  unreadable: RunOptions["unreadable"],
): Promise<void> {
  const journals = relations.filter(({ table }) => table.name === JOURNAL);
  if (journals.length === 0) return;
  await database.run(MAKE_ENTRY);
  for await (const rows of entryRows(database, journals, { unreadable })) {
    await database.runAll(INSERT_ENTRY, rows);
  }
}

/** Puts the result into the table `result`, with the size of each row. */
async function spool(
  database: QueryDatabase,
  { sql, columns, isPlan }: Asked,
  rowsMax: number,
): Promise<void> {
  const names = columns.map((_, i) => `v${i}`);
  await database.run(`create table main.result (n integer primary key, size, ${names.join(", ")})`);
  if (isPlan) return await spoolPlan(database, sql);
  const values = columns.map(({ ref, type }) => safely(ref, type));
  const sizes = columns.map(({ ref, type }) => sizeSql(ref, type));
  await database.run(
    `insert into main.result (size, ${names.join(", ")})
      select ${sizes.join(" + ")}, ${values.join(", ")} from (${sql}) limit ${rowsMax + 1}`,
  );
  const count = await database.row("select max(n) from main.result");
  if (Number(count?.[0] ?? 0) <= rowsMax) return;
  throw tooManyRows(rowsMax);
}

/** The plan's text is ours and SQLite's. */
async function spoolPlan(database: QueryDatabase, sql: string): Promise<void> {
  const rows = await database.rows(`explain query plan ${sql}`);
  const insert =
    `insert into main.result (size, v0, v1) values (8, cast(?1 as blob), cast(?2 as blob))`;
  await database.runAll(insert, [planRow(rows)]);
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
