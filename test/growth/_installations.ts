import { openLibsql } from "../../adapters/libsql/file/open.ts";
import { newInvocationId } from "../../src/model/id.ts";
import { type Rows, type Table, type Write } from "../../src/model/rows.ts";
import type { SqlClient, SqlRow } from "../../src/ports.ts";
import { BYTE_COLUMNS } from "../../src/storage/schema/large_tables.ts";
import type { Layout } from "../../src/storage/schema/layout.ts";
import type { Installation } from "../../src/storage/move/installation.ts";
import { begin, layOut } from "../../src/storage/move/new_installation.ts";
import { ROW_TABLES } from "../../src/storage/move/row_table.ts";
import { RowWriter } from "../../src/storage/move/write_rows.ts";

export const silent = () => {};

/** A new installation in memory, that is still marked as unfinished. */
export async function newInstallation(
  { partitions, databases }: Layout,
  epoch: number,
): Promise<{ installation: Installation; writer: RowWriter }> {
  const count = databases === "each" ? partitions : 1;
  const clients: SqlClient[] = [];
  for (let i = 0; i < count; i++) {
    const client = await openLibsql({ url: ":memory:" });
    await begin(client);
    clients.push(client);
  }
  const of = (partition: number) => clients[databases === "each" ? partition : 0]!;
  const installation = { partitions, clients, of, retry: { retryMs: 0 } };
  await layOut(installation, databases, epoch);
  return { installation, writer: new RowWriter(installation) };
}

export async function close({ clients }: Installation): Promise<void> {
  await Promise.all(clients.map((client) => client.close()));
}

export async function ask(client: SqlClient, text: string): Promise<readonly SqlRow[]> {
  const [rows = []] = await client.batch("read", [{ sql: text, args: [] }]);
  return rows;
}

/**
 * Every row of every database, as plain texts in an order of their own, but for the partition. Where its
 * bytes are stored is no part of a row: they are those of the views.
 */
export async function contents({ clients }: Installation): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  const columns = new Map<string, string>(BYTE_COLUMNS);
  const views = BYTE_COLUMNS.map(([name]) => ({ name: `whole_${name}` }));
  for (const { name } of [...ROW_TABLES, ...views]) {
    const rows = await Promise.all(clients.map((client) => ask(client, `select * from ${name}`)));
    const left = new Set(["partition", ...columns.has(name) ? ["large", columns.get(name)] : []]);
    all[name] = rows.flat().map((row) =>
      JSON.stringify(Object.entries(row).filter(([column]) => !left.has(column)), plain)
    ).sort();
  }
  return all;
}

function plain(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? `bytes ${Buffer.from(value).toString("hex")}` : value;
}

/** A well-formed id for any name, in a partition that depends on it. */
export function idOf(name: string): string {
  const identity = { service: "svc", handler: "run", key: name, isWorkflowRun: false };
  return newInvocationId(identity, new Uint8Array(16), 0).id;
}

/** Rows that are not moved as they are. */
const LEFT_OUT: ReadonlySet<Table> = new Set(["outbox", "peer", "source"]);

/** The same writes with ids and objects that have a partition. What has none is left out. */
export function placed(writes: readonly Write[]): Write[] {
  return writes.filter(({ table }) => !LEFT_OUT.has(table)).map((write) => ({
    ...write,
    row: placedRow(write.table, write.row),
  }));
}

function placedRow(table: Table, row: Rows[Table]): Rows[Table] {
  if (["invocation", "journal", "event", "timer"].includes(table)) {
    return { ...row, id: idOf((row as Rows["timer"]).id) } as Rows[Table];
  }
  return { ...row, object: `svc/${(row as Rows["lock"]).object}` } as Rows[Table];
}
