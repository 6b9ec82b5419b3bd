import { sql } from "kysely";
import { Failure } from "../../errors.ts";
import type { SqlClient, SqlRow, SqlValue, Statement } from "../../ports.ts";
import { withRetries } from "../retry.ts";
import { compile, statement } from "../codec/sql_text.ts";
import type { Installation } from "./installation.ts";
import { homeOf, nameOf, type RowTable } from "./row_table.ts";
import { spreadSource } from "./sources.ts";

/** A batch ends with the row that reaches one of these. */
const BATCH_ROWS = 512;
const BATCH_BYTES = 1024 * 1024;
/** Rows of one statement. */
const ROWS_MAX = 32;

/** Rows that wait to be written to one database. */
interface PendingRows {
  readonly client: SqlClient;
  readonly tables: Map<RowTable, SqlValue[][]>;
  rows: number;
  bytes: number;
}

/** Writes rows to the databases of their partitions, in batches, with bounded memory. */
export class RowWriter {
  readonly #installation: Installation;
  readonly #rowBytesMax: number;
  readonly #pending = new Map<SqlClient, PendingRows>();

  /** `rowBytesMax`: the largest row that the databases keep. */
  constructor(installation: Installation, rowBytesMax = Infinity) {
    this.#installation = installation;
    this.#rowBytesMax = rowBytesMax;
  }

  /** Rejects with `Failure` when the row is too large for the database, and as the client does. */
  async add(table: RowTable, row: SqlRow): Promise<void> {
    const { partitions } = this.#installation;
    if (table.home !== "source") return await this.#add(table, row);
    for (const own of spreadSource(row, partitions)) await this.#add(table, own);
  }

  async #add(table: RowTable, row: SqlRow): Promise<void> {
    const home = homeOf(table, row, this.#installation.partitions);
    const values = table.columns.map(({ name }) => (row[name] ?? null) as SqlValue);
    if (table.made) values.push(table.made.of(row));
    const bytes = values.reduce<number>((sum, value) => sum + sizeOf(value), 0);
    if (bytes > this.#rowBytesMax) throw this.#tooLarge(table, row, bytes);
    const pending = this.#pendingOf(home);
    const rows = pending.tables.get(table) ?? [];
    rows.push(table.hasPartition ? [home, ...values] : values);
    pending.tables.set(table, rows);
    pending.bytes += bytes;
    if (++pending.rows >= BATCH_ROWS || pending.bytes >= BATCH_BYTES) await this.#write(pending);
  }

  /** Writes the rows that wait. */
  async flush(): Promise<void> {
    for (const pending of this.#pending.values()) await this.#write(pending);
  }

  #pendingOf(home: number): PendingRows {
    const client = this.#installation.of(home);
    let pending = this.#pending.get(client);
    if (!pending) {
      this.#pending.set(client, pending = { client, tables: new Map(), rows: 0, bytes: 0 });
    }
    return pending;
  }

  async #write(pending: PendingRows): Promise<void> {
    const { client, tables } = pending;
    const statements: Statement[] = [];
    for (const [table, rows] of tables) {
      for (let from = 0; from < rows.length; from += ROWS_MAX) {
        const some = rows.slice(from, from + ROWS_MAX);
        statements.push(statement(insertion(table, some.length), ...some.flat()));
      }
    }
    tables.clear();
    pending.rows = pending.bytes = 0;
    if (statements.length === 0) return;
    await withRetries(client, () => client.batch("write", statements), this.#installation.retry);
  }

  #tooLarge(table: RowTable, row: SqlRow, bytes: number): Failure {
    return Failure.plain(
      413,
      `Cannot move ${nameOf(table, row)}: it has ${bytes} bytes, ` +
        `the database keeps rows of up to ${this.#rowBytesMax}`,
    );
  }
}

const insertions = new Map<string, string>();

/**
 * Idempotent, because it is retried after a loss: rows that exist are not changed. The final check of
 * all rows finds two different rows with one key.
 */
function insertion(
  { name, columns, hasPartition, made }: RowTable,
  count: number,
): string {
  const key = `${name}/${count}`;
  let text = insertions.get(key);
  if (text === undefined) {
    const own = columns.map((column) => column.name);
    const names = [...hasPartition ? ["partition"] : [], ...own, ...made ? [made.name] : []];
    const one = `(${names.map(() => "?").join(", ")})`;
    text = compile(sql.raw(
      `insert into ${name} (${names.join(", ")}) values ${Array(count).fill(one).join(", ")}
      on conflict do nothing`,
    ));
    insertions.set(key, text);
  }
  return text;
}

function sizeOf(value: SqlValue): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length;
  return 8;
}
