import { sql } from "kysely";
import { Failure } from "../../errors.ts";
import type { SqlClient } from "../../ports.ts";
import { type RetryLimits, withRetries } from "../retry.ts";
import { compile, statement } from "../codec/sql_text.ts";

/** How an installation is divided into partitions and databases. */
export interface Layout {
  readonly partitions: number;
  /** Whether all partitions share a database, or each has its own. */
  readonly databases: "one" | "each";
}

const SETTLE_DATABASES = compile(sql`insert or ignore into meta (name, value) values ('databases',
  case when exists (select 1 from meta where name = 'partitions') then 'one' else ?1 end)`);
const ENSURE = compile(sql`insert or ignore into meta (name, value) values (?1, ?2)`);
const READ = compile(sql`select name, value from meta where name in ('partitions', 'databases')`);
const READ_STATE = compile(sql`select value from meta where name = 'state'`);
const READ_PART = compile(sql`select value from meta where name = 'part'`);

/**
 * Records the layout of a new installation in the first of its databases, which `migrate` has prepared.
 * An existing installation keeps its layout, whatever is wanted. Resolves with the layout that holds;
 * of several processes that start at once, the first one decides.
 */
export async function ensureLayout(
  client: SqlClient,
  wanted: Layout,
  retry: RetryLimits = { retryMs: 0 },
): Promise<Layout> {
  const [, , rows = []] = await withRetries(client, () =>
    client.batch("write", [
      statement(SETTLE_DATABASES, wanted.databases),
      statement(ENSURE, "partitions", String(wanted.partitions)),
      statement(READ),
    ]), retry);
  const recorded = new Map(rows.map(({ name, value }) => [name, value]));
  return {
    partitions: Number(recorded.get("partitions")),
    databases: recorded.get("databases") === "each" ? "each" : "one",
  };
}

/**
 * Records the partition of a database, where each partition has its own. Rejects with `Failure`
 * META0011 when the database belongs to another partition: files or addresses were mixed up.
 */
export async function ensurePartition(
  client: SqlClient,
  partition: number,
  retry: RetryLimits = { retryMs: 0 },
): Promise<void> {
  const [, [row] = []] = await withRetries(client, () =>
    client.batch("write", [
      statement(ENSURE, "part", String(partition)),
      statement(READ_PART),
    ]), retry);
  if (row?.["value"] === String(partition)) return;
  const message = `Cannot use the database of partition ${partition}: it holds partition ${
    row?.["value"]
  }`;
  throw new Failure("META0011", message);
}

/**
 * Rejects with `Failure` META0011 when the database is the target of a copy that is running or was
 * interrupted.
 */
export async function refuseUnfinished(
  client: SqlClient,
  retry: RetryLimits = { retryMs: 0 },
): Promise<void> {
  const ask = () => client.batch("read", [statement(READ_STATE)]);
  const [[row] = []] = await withRetries(client, ask, retry);
  if (!row) return;
  const message = "Cannot use the database: it holds a copy that is not finished; begin it again " +
    "with an empty one";
  throw new Failure("META0011", message);
}

/** The partition that `ensurePartition` recorded in a database. Undefined: none. */
export async function readPartition(client: SqlClient): Promise<number | undefined> {
  const [[row] = []] = await client.batch("read", [statement(READ_PART)]);
  return row === undefined ? undefined : Number(row["value"]);
}
