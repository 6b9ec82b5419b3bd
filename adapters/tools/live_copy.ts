import Database from "libsql";
import { Failure } from "../../src/errors.ts";
import type { Progress } from "../../src/storage/move/installation.ts";
import { keyOption } from "../libsql/file/folder_key.ts";
import type { Display } from "./display.ts";

/** A database file that another process may be writing to, and the new file it is copied to. */
export interface Copied {
  readonly from: string;
  readonly to: string;
  /** Of `FolderKey`, each for its file. Absent: it is not encrypted. */
  readonly keyFrom?: string | undefined;
  readonly keyTo?: string | undefined;
}

/** How long writers are blocked at most, and how long the lock of one file is waited for. */
const HOLD_MS_MAX = 200;
const WAIT_MS = 20;
/** How long it is retried, and how long writers are left alone in between. */
const TRY_MS = 30_000;
const REST_MS = 25;
/** How long readers wait for a log that is being set up. */
const BUSY_MS = 5_000;

/** Rows that are copied by one statement. */
const PIECE_ROWS = 10_000;

interface SchemaRow {
  readonly type: "table" | "index" | "view" | "trigger";
  readonly name: string;
  readonly sql: string;
}

/**
 * Copies a common snapshot of files that may be written meanwhile (decision 033). Writers of all files
 * are locked out for as long as it takes to begin a read transaction on each, some milliseconds; each
 * transaction then sees its file as it was. Blocks this thread: for a process of its own.
 *
 * Rejects when a file cannot be read or written, or when writers leave no time for the snapshot.
 */
export async function copyLive(files: readonly Copied[], display: Display): Promise<void> {
  const readers = files.map((file) => openReader(file));
  try {
    await atOneMoment(files, readers);
    const rows = readers.reduce((sum, reader) => sum + countAll(reader), 0);
    const work = display.begin("Copying", { rows });
    for (const [i, file] of files.entries()) {
      const reader = readers[i];
      if (reader) copyRead(reader, file, work.progress);
    }
    work.end();
  } finally {
    for (const reader of readers) reader.close();
  }
}

/** Opens a file to be read, with the new, empty file attached as `copy`. */
function openReader(file: Copied): Database.Database {
  const target = openCopy(file);
  // It is not used before it is complete: it needs no journal, and is forced to disk at the end.
  target.exec("pragma auto_vacuum = incremental; pragma journal_mode = off; vacuum");
  target.close();
  const reader = openOriginal(file, BUSY_MS);
  // Without a key of its own the copy would be opened with that of the original.
  reader.prepare("attach ? as copy key ?").run([file.to, file.keyTo ?? ""]);
  reader.exec("pragma copy.journal_mode = off; pragma copy.synchronous = off");
  return reader;
}

function openOriginal({ from, keyFrom }: Copied, timeout: number): Database.Database {
  return new Database(from, { timeout, ...keyOption(keyFrom) });
}

function openCopy({ to, keyTo }: Copied): Database.Database {
  return new Database(to, keyOption(keyTo));
}

async function atOneMoment(
  files: readonly Copied[],
  readers: readonly Database.Database[],
): Promise<void> {
  const gates = files.map((file) => openOriginal(file, WAIT_MS));
  try {
    for (const until = Date.now() + TRY_MS; !beginTogether(gates, readers);) {
      if (Date.now() > until) {
        throw Failure.plain(503, "Cannot copy: writers leave no moment in which all files rest");
      }
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
    }
  } finally {
    for (const gate of gates) gate.close();
  }
}

/** Begins all readers while all writers are locked out. False: a writer was in the way. */
function beginTogether(
  gates: readonly Database.Database[],
  readers: readonly Database.Database[],
): boolean {
  const shut: Database.Database[] = [];
  const until = Date.now() + HOLD_MS_MAX;
  try {
    for (const gate of gates) {
      if (Date.now() > until) return false;
      gate.exec("begin immediate");
      shut.push(gate);
    }
    for (const reader of readers) {
      reader.exec("begin");
      // The snapshot of a transaction is taken by its first read.
      reader.prepare("select count(*) from main.sqlite_master").get([]);
    }
    return true;
  } catch (cause) {
    if (!isBusy(cause)) throw cause;
    for (const reader of readers) if (reader.inTransaction) reader.exec("rollback");
    return false;
  } finally {
    for (const gate of shut) gate.exec("rollback");
  }
}

/** Copies the snapshot of a reader, tables first: an index is built faster over all rows at once. */
function copyRead(reader: Database.Database, file: Copied, progress: Progress): void {
  const schema = schemaOf(reader);
  const tables = schema.filter(({ type }) => type === "table");
  make(file, tables);
  let bytesBefore = bytesOf(reader);
  for (const { name } of tables) {
    for (const rows of copyTable(reader, name)) {
      const bytes = bytesOf(reader);
      progress({ what: name, rows, bytes: bytes - bytesBefore });
      bytesBefore = bytes;
    }
  }
  reader.exec("commit");
  reader.exec("detach copy");
  // A trigger would treat the copied rows as changes.
  make(file, schema.filter(({ type }) => type !== "table"));
  seal(file);
}

function schemaOf(reader: Database.Database): SchemaRow[] {
  return reader.prepare(
    `select type, name, sql from main.sqlite_master where sql is not null
      and substr(name, 1, 7) <> 'sqlite_' order by rowid`,
  ).all([]) as SchemaRow[];
}

/** Rows of all tables. */
function countAll(reader: Database.Database): number {
  let sum = 0;
  for (const { type, name } of schemaOf(reader)) {
    if (type !== "table") continue;
    const count = reader.prepare(`select count(*) as n from main.${quoteName(name)}`);
    sum += (count.get([]) as { n: number }).n;
  }
  return sum;
}

/** Size of the copy so far. */
function bytesOf(reader: Database.Database): number {
  const sizes = `select p.page_count * s.page_size as bytes
    from pragma_page_count('copy') as p, pragma_page_size('copy') as s`;
  return (reader.prepare(sizes).get([]) as { bytes: number }).bytes;
}

/** Runs the original statements of a schema, by a connection whose main database is the copy. */
function make(file: Copied, schema: readonly SchemaRow[]): void {
  const target = openCopy(file);
  target.exec("pragma journal_mode = off; pragma synchronous = off");
  for (const { sql } of schema) target.exec(sql);
  target.close();
}

/** Copies a table in pieces, so that progress can be shown. Yields the number of rows of each. */
function* copyTable(reader: Database.Database, name: string): Generator<number> {
  const table = quoteName(name);
  const all = reader.prepare(`pragma main.table_xinfo(${table})`).all([]) as {
    readonly name: string;
    readonly hidden: number;
  }[];
  // Columns that are generated follow from the others.
  const columns = all.filter(({ hidden }) => hidden === 0).map(({ name }) => quoteName(name));
  const list = columns.join(", ");
  const insert = `insert into copy.${table} (${list}) select ${list} from main.${table}`;
  if (!hasRowid(reader, name)) return yield reader.prepare(insert).run([]).changes;
  const piece = reader.prepare(`${insert} where rowid > ? and rowid <= ?`);
  const ends = reader.prepare(
    `select rowid as id from main.${table} where rowid > ? order by rowid
      limit 1 offset ${PIECE_ROWS - 1}`,
  );
  for (let after = Number.MIN_SAFE_INTEGER; after < Number.MAX_SAFE_INTEGER;) {
    const end = ends.get([after]) as { readonly id: number } | undefined;
    const until = end?.id ?? Number.MAX_SAFE_INTEGER;
    yield piece.run([after, until]).changes;
    after = until;
  }
}

function hasRowid(reader: Database.Database, name: string): boolean {
  const about = `select wr from pragma_table_list where schema = 'main' and name = ?`;
  return (reader.prepare(about).get([name]) as { readonly wr: number }).wr === 0;
}

/** Checks the copy, sets the journal mode of the server, and forces it to disk. */
function seal(file: Copied): void {
  const target = openCopy(file);
  const [found] = target.prepare("pragma quick_check(1)").all([]) as { quick_check: string }[];
  if (found?.quick_check !== "ok") {
    throw Failure.plain(500, `The copy is not what it should be: ${found?.quick_check}`);
  }
  target.exec("pragma synchronous = full");
  target.prepare("pragma journal_mode = wal").all([]);
  target.close();
}

function isBusy(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && /^SQLITE_BUSY/.test(String(cause.code));
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
