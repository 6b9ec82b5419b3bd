import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { openLocal } from "../../adapters/libsql/file/local_client.ts";
import {
  type IntrospectionOptions,
  libsqlIntrospection,
} from "../../adapters/libsql/query/introspection.ts";
import type { QueryAddress } from "../../adapters/libsql/query/messages.ts";
import type { SqlClient, SqlRow, SqlValue, Statement } from "../../src/ports.ts";
import type { Introspection } from "../../src/query_port.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { builtProgram, LIMITS } from "./_small.ts";

/** Tables that an installation has once. */
const SHARED = ["deployment", "rule", "control", "kafka_report", "audit"];
/** Tables whose rows are in the database of their partition, and what says in which. */
const TABLES = {
  invocation: "id",
  journal: "id",
  event: "id",
  lock: "object",
  inbox: "object",
  state: "object",
  promise: "object",
  timer: "id",
} as const;

/** Rows by table. */
export type Rows = Readonly<Record<string, readonly SqlRow[]>>;

/** All rows that queries read, without columns that are computed of others. */
export async function rowsOfTables(client: SqlClient): Promise<Rows> {
  const rows: Record<string, readonly SqlRow[]> = {};
  for (const table of [...Object.keys(TABLES), ...SHARED]) {
    const ask = (sql: string) => client.batch("read", [{ sql, args: [] }]);
    const [columns = []] = await ask(`select name from pragma_table_xinfo('${table}')
      where hidden = 0`);
    const [found = []] = await ask(
      `select ${columns.map(({ name }) => name).join(", ")} from ${table}`,
    );
    rows[table] = found;
  }
  return rows;
}

/** Database files in a folder of their own. */
export class Files {
  readonly folder = mkdtempSync(path.join(tmpdir(), "united-"));
  readonly #clients: SqlClient[] = [];

  /** A file with these rows. Answers its URL. */
  async make(name: string, rows: Rows): Promise<string> {
    const url = pathToFileURL(path.join(this.folder, name)).href;
    const client = await openLocal({ url });
    this.#clients.push(client);
    await migrate(client);
    await fill(client, rows);
    return url;
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((one) => one.close()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Changes the last byte of a text that a database file holds once. */
export async function damage(url: string, text: string): Promise<void> {
  const client = await openLocal({ url });
  await client.batch("write", [{ sql: "pragma wal_checkpoint(truncate)", args: [] }]);
  await client.close();
  const bytes = readFileSync(new URL(url));
  bytes[bytes.indexOf(text) + text.length - 1] = 0x7a;
  writeFileSync(new URL(url), bytes);
}

/** Puts rows into a database that has its tables. */
export async function fill(client: SqlClient, rows: Rows): Promise<void> {
  const statements = Object.entries(rows).flatMap(([table, found]) =>
    found.map((row): Statement => {
      const columns = Object.keys(row);
      const places = columns.map((_, i) => `?${i + 1}`).join(", ");
      return {
        sql: `insert into ${table} (${columns.join(", ")}) values (${places})`,
        args: Object.values(row) as SqlValue[],
      };
    })
  );
  if (statements.length > 0) await client.batch("write", statements);
}

/** The share of a partition of `count`: what is together stays together, deployments are in the first. */
export function share(rows: Rows, at: number, count: number): Rows {
  const home = new Map(
    rows["invocation"]?.map(({ id, body }) => {
      const { target } = JSON.parse(String(body));
      return [id, target.key === undefined ? id : `${target.service}/${target.key}`] as const;
    }),
  );
  const isMine = (group: unknown) =>
    partOf(String(home.get(group as string) ?? group), count) === at;
  const mine = Object.entries(TABLES).map(([table, group]) => [
    table,
    rows[table]?.filter((row) => isMine(row[group])) ?? [],
  ]);
  const shared = SHARED.map((table) => [table, at === 0 ? rows[table] ?? [] : []]);
  return Object.fromEntries([...mine, ...shared]);
}

function partOf(group: string, count: number): number {
  let sum = 0;
  for (let i = 0; i < group.length; i++) sum = (sum * 31 + group.charCodeAt(i)) % 1009;
  return sum % count;
}

/** Who asks databases, with everything closed at the end. */
export class Asking {
  /** What was logged. */
  readonly said: unknown[] = [];
  readonly #program = builtProgram();
  readonly #opened: Introspection[] = [];

  open(
    databases: readonly QueryAddress[],
    options: Partial<IntrospectionOptions> = {},
  ): Introspection {
    const introspection = libsqlIntrospection({
      databases,
      program: this.#program,
      limits: LIMITS,
      clock: Date,
      log: (...record) => this.said.push(record),
      flush: () => Promise.resolve(),
      queriesMax: 4,
      waitingMax: 100,
      ...options,
    });
    this.#opened.push(introspection);
    return introspection;
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((one) => one.close()));
  }
}

export function onServer(url: string): QueryAddress {
  return { kind: "server", url, authToken: "", timeoutMs: 5000 };
}

export function inFile(url: string): QueryAddress {
  return { kind: "file", url };
}

/** Rows in an order of their own: a statement need not say one. */
export function sorted(rows: readonly unknown[]): string[] {
  return rows.map((row) => JSON.stringify(row)).toSorted();
}
