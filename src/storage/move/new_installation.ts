import { sql } from "kysely";
import { Failure } from "../../errors.ts";
import type { SqlClient } from "../../ports.ts";
import { withRetries } from "../retry.ts";
import { ensureLayout, ensurePartition, type Layout, refuseUnfinished } from "../schema/layout.ts";
import { compile, statement } from "../codec/sql_text.ts";
import { migrate } from "../schema/migrations.ts";
import type { Installation } from "./installation.ts";

const TABLES = compile(sql`select name from sqlite_master where type = 'table'
  and substr(name, 1, 7) <> 'sqlite_' and substr(name, 1, 1) <> '_'`);
/** Fails if the table exists, so that no two processes copy into one database. */
const MAKE_META = compile(sql`create table meta (name text primary key, value text)`);
const MARK = compile(sql`insert into meta (name, value) values ('state', 'unfinished')`);
const UNMARK = compile(sql`delete from meta where name = 'state'`);
const LEASE = compile(sql`insert into lease (partition, epoch) values (?1, ?2)
  on conflict (partition) do nothing`);
const EPOCHS = compile(sql`select partition, epoch from lease order by partition`);

/**
 * Marks an empty database as an unfinished copy and migrates it. Servers refuse it from then on until
 * `finish`. Rejects with `Failure` META0011 when it is not empty.
 */
export async function begin(client: SqlClient): Promise<void> {
  const [tables = []] = await client.batch("read", [statement(TABLES)]);
  if (tables.some(({ name }) => name === "meta")) await refuseUnfinished(client);
  if (tables.length > 0) {
    throw new Failure("META0011", "Cannot write to the database: it is not empty");
  }
  await client.batch("write", [statement(MAKE_META), statement(MARK)]);
  await migrate(client);
}

/**
 * Records the layout of an installation whose databases `begin` has prepared. `epoch`: higher than
 * every epoch under which its rows were written.
 */
export async function layOut(
  { clients, of, partitions, retry }: Installation,
  databases: Layout["databases"],
  epoch: number,
): Promise<void> {
  for (const [number, client] of clients.entries()) {
    if (number === 0) await ensureLayout(client, { partitions, databases }, retry);
    if (databases === "each") await ensurePartition(client, number, retry);
  }
  for (let partition = 0; partition < partitions; partition++) {
    const client = of(partition);
    const lease = statement(LEASE, partition, epoch);
    await withRetries(client, () => client.batch("write", [lease]), retry);
  }
}

/** Removes the mark of a complete and checked copy, in the first database last: servers may open it. */
export async function finish({ clients, retry }: Installation): Promise<void> {
  for (const client of [...clients].reverse()) {
    await withRetries(client, () => client.batch("write", [statement(UNMARK)]), retry);
  }
}

/** The epoch of each partition that was ever claimed. */
export async function epochsOf(
  { clients, retry }: Installation,
): Promise<ReadonlyMap<number, number>> {
  const epochs = new Map<number, number>();
  for (const client of clients) {
    const [rows = []] = await withRetries(
      client,
      () => client.batch("read", [statement(EPOCHS)]),
      retry,
    );
    for (const { partition, epoch } of rows) {
      const known = epochs.get(Number(partition)) ?? 0;
      epochs.set(Number(partition), Math.max(known, Number(epoch)));
    }
  }
  return epochs;
}
