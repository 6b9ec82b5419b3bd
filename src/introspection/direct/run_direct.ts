import type { Query } from "../../query_port.ts";
import type { Bound } from "../database.ts";
import { type EntryOptions, entryRows, INSERT_ENTRY, MAKE_ENTRY } from "../journal/entry_rows.ts";
import { liveList, WITH_LIVE } from "../live_rows.ts";
import { planRow } from "../plan_text.ts";
import { type Asked, readRequest } from "../read_request.ts";
import { failed, tooLarge } from "../refusal.ts";
import { formatOf, safely } from "../render/answer.ts";
import type { Row } from "../render/format.ts";
import { PAGE_BYTES, type QueryLimits, type QueryRequest } from "../request.ts";
import { ENTRIES, JOURNAL } from "../tables/journal_tables.ts";
import type { StoredRelation } from "../translate/scope.ts";
import type { DirectDatabase } from "./direct_database.ts";
import { BufferedAnswer } from "./buffered_answer.ts";
import { type PlanLine, workOf } from "./plan_work.ts";

export interface DirectLimits extends Pick<QueryLimits, "rowsMax" | "spoolBytesMax"> {
  /** Called for every stored row that cannot be decoded. */
  readonly unreadable: EntryOptions["unreadable"];
  /** As in `Query`. */
  readonly warn?: Query["warn"];
}

/** Rows between two pauses at most. */
const PAGE_ROWS = 500;
/** Rows of a table are counted up to here. */
const COUNTED_MAX = 100_000;
/** What every stored table is called. Lists of constants have its name, too. */
const STORED = /^SCAN t(?! VIRTUAL)\b/;
/** Rows that anything else is taken to have. */
const GUESSED_ROWS = 300;
/** Rows that a statement may read without a pause: about a second, in which no other work runs. */
const WORK_MAX = 10_000_000;
/** Bytes of larger entries are not spelled out: their JSON would be too large for a value. */
const JSON_BYTES_MAX = 384 * 1024;

/**
 * Answers a query from the very database that the partition works on, where no thread and no second
 * connection can be had. Rows are taken some at a time, and others have their turn in between; what
 * cannot be interrupted is refused when its plan says that it would take long. The answer is in memory
 * when this resolves. Rejects with a `Failure`.
 *
 * Journals that are asked for are put into a table, which a database that is written to by others
 * cannot keep: it is made, read and undone in one go.
 */
export async function runDirect(
  database: DirectDatabase,
  request: QueryRequest,
  limits: DirectLimits,
): Promise<readonly Uint8Array[]> {
  const asked = readRequest(request);
  for (const warning of asked.warnings) limits.warn?.(warning);
  const answer = new BufferedAnswer(
    asked.columns,
    formatOf(request.format, asked.warnings),
    limits,
  );
  const reading = { database, asked, live: liveList(request.running), rowsMax: limits.rowsMax };
  const entries = await gatherEntries(database, asked, limits);
  if (entries) {
    database.undone(() => {
      runAll(database, MAKE_ENTRY, [[]]);
      runAll(database, INSERT_ENTRY, entries);
      for (const page of pages(reading, entries.length)) answer.add(page);
    });
  } else {
    for (const page of pages(reading)) {
      answer.add(page);
      await database.pause();
      database.check();
    }
  }
  return answer.end();
}

/** The journals that a statement asks for, as rows of the table `entry`; undefined: it asks for none. */
async function gatherEntries(
  database: DirectDatabase,
  { relations }: Asked,
  { spoolBytesMax: bytesMax, unreadable }: DirectLimits,
): Promise<Bound[][] | undefined> {
  const mentions = relations.filter(({ table }) => table.name === JOURNAL);
  if (mentions.length === 0) return undefined;
  const entries: Bound[][] = [];
  let bytes = 0;
  for await (
    const rows of entryRows(database, mentions, { jsonBytesMax: JSON_BYTES_MAX, unreadable })
  ) {
    for (const row of rows) for (const value of row) bytes += sizeOf(value);
    if (bytes > bytesMax) throw tooLarge("what it reads", bytesMax);
    entries.push(...rows);
    await database.pause();
  }
  return entries;
}

interface Reading {
  readonly database: DirectDatabase;
  readonly asked: Asked;
  /** See `WITH_LIVE`. */
  readonly live: string;
  readonly rowsMax: number;
}

/** The result, in pages that fit into memory. `entries`: rows of the table of this name. */
function* pages(
  { database, asked: { sql, columns, relations, isPlan }, live, rowsMax }: Reading,
  entries = 0,
): Generator<readonly Row[]> {
  const values = columns.map(({ ref, type }) => isPlan ? ref : safely(ref, type));
  const query = `${WITH_LIVE}select ${isPlan ? "*" : values.join(", ")} from (${sql})
    limit ${rowsMax + 1}`;
  const plan = [...database.open(`explain query plan ${query}`, [live])];
  if (isPlan) return yield [planRow(plan)];
  refuseHeavy(plan, Math.max(entries, ...relations.map((one) => rowsOf(database, one))));
  yield* inPages(database.open(query, [live]));
}

/** Throws a `Failure` for what would hold up everybody else for long. */
function refuseHeavy(plan: readonly Row[], stored: number): void {
  const lines = plan.map(([id, parent, , detail]): PlanLine => ({
    id: Number(id),
    parent: Number(parent),
    detail: String(detail),
  }));
  const work = workOf(lines, (detail) => STORED.test(detail) ? stored : GUESSED_ROWS);
  if (work <= WORK_MAX) return;
  throw failed(
    "Cannot run the query: it would look at too many rows without a pause; compare with " +
      "constants, or join by id",
  );
}

function rowsOf(database: DirectDatabase, { table: { from } }: StoredRelation): number {
  const [, stored] = /^(\w+) as t$/.exec(from) ?? [];
  if (stored === undefined || from === ENTRIES) return 0;
  const count = `select count(*) from (select 1 from ${stored} limit ${COUNTED_MAX})`;
  const [row] = [...database.open(count)];
  return Number(row?.[0] ?? 0);
}

function* inPages(rows: Iterable<Row>): Generator<readonly Row[]> {
  let page: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    page.push(row);
    for (const value of row) bytes += sizeOf(value);
    if (page.length < PAGE_ROWS && bytes < PAGE_BYTES) continue;
    yield page;
    page = [];
    bytes = 0;
  }
  yield page;
}

function runAll(database: DirectDatabase, sql: string, rows: readonly (readonly Bound[])[]): void {
  for (const row of rows) [...database.open(sql, row)];
}

function sizeOf(value: Row[number]): number {
  return typeof value === "string" || value instanceof Uint8Array ? value.length : 8;
}
