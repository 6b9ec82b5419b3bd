import { sql } from "kysely";
import type { Failure } from "../errors.ts";
import type { SqlClient } from "../ports.ts";
import type { Layout } from "./schema/layout.ts";
import { checkedLog, damaged, logPlaces } from "./log/recover.ts";
import { compile, statement } from "./codec/sql_text.ts";

const LEASE = compile(sql`select epoch, folded from lease where partition = ?1`);
const LOG_ENDS = compile(sql`select min(place) as first, max(place) as last from log
  where place > ?1 and place <= ?2`);

const META = compile(sql`select name, value from meta`);

/** Format and layout that a database records about itself. */
export interface DatabaseInfo {
  /** The number of migrations that made its tables (`storage/schema/migrations.ts`). */
  readonly format: number;
  readonly partitions: number;
  readonly databases: Layout["databases"];
  /** The version of the deployments, in the first database. */
  readonly deployments: number;
}

/** Reads format and layout of a database. Rejects as the client does. */
export async function databaseInfoOf(client: SqlClient): Promise<DatabaseInfo> {
  const [rows = []] = await client.batch("read", [statement(META)]);
  const meta = new Map(rows.map(({ name, value }) => [name, value]));
  return {
    format: Number(meta.get("format") ?? 0),
    partitions: Number(meta.get("partitions") ?? 1),
    databases: meta.get("databases") === "each" ? "each" : "one",
    deployments: Number(meta.get("deployments") ?? 0),
  };
}

/** The partitions in database `number`, by the layout that the first database records. */
export function partitionsIn({ partitions, databases }: DatabaseInfo, number: number): number[] {
  return databases === "each" || number > 0 ? [number] : [...Array(partitions).keys()];
}

/** The position of the last commit of a partition in a database. */
export interface LogEnd {
  /** 0: the partition was never claimed. */
  readonly epoch: number;
  /** The place of the last commit of that epoch, or of the log's end. */
  readonly place: number;
}

/** Reads the position of the last commit. No process may write to the database meanwhile. */
export async function logEndOf(client: SqlClient, partition: number): Promise<LogEnd> {
  const { from, to } = logPlaces(partition);
  const [[lease] = [], [ends] = []] = await client.batch("read", [
    statement(LEASE, partition),
    statement(LOG_ENDS, from, to),
  ]);
  const folded = Number(lease?.["folded"] ?? 0);
  return {
    epoch: Number(lease?.["epoch"] ?? 0),
    place: Math.max(from, folded, Number(ends?.["last"] ?? 0)),
  };
}

/**
 * Checks the log of a partition; no process may write to the database meanwhile. Resolves with the
 * first damage as `Failure` RT0028. Undefined: the log is intact.
 */
export async function logProblem(
  client: SqlClient,
  partition: number,
): Promise<Failure | undefined> {
  const { from, to } = logPlaces(partition);
  const [[lease] = [], [ends] = []] = await client.batch("read", [
    statement(LEASE, partition),
    statement(LOG_ENDS, from, to),
  ]);
  const [folded, first] = [Number(lease?.["folded"] ?? 0), ends?.["first"]];
  // `folded` is 0 after a claim that was interrupted: then a gap cannot be detected here.
  if (folded > 0 && typeof first === "number" && first !== folded + 1) {
    return damaged(partition, { place: first, problem: "rows before it are missing" });
  }
  for await (const { damage } of checkedLog(client, partition)) {
    if (damage) return damaged(partition, damage);
  }
  return undefined;
}
