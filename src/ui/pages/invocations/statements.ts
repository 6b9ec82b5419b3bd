import { ENDED, type Invocation, invocationColumns } from "../../data/invocations.ts";
import { type Sql, sql, where } from "../../data/sql.ts";

export type Order = "newest" | "oldest";

export const PAGE_ROWS = 100;

/** One page of a list, behind a row of the page before it. The order is total: by time, then by id. */
export function pageOf(
  conditions: readonly Sql[],
  order: Order,
  after: Pick<Invocation, "id" | "created_at"> | undefined,
): Sql {
  const all = where([...conditions, ...behind(order, after)]);
  return sql`SELECT ${invocationColumns()} FROM sys_invocation ${all} ${
    sorted(order)
  } LIMIT ${PAGE_ROWS}`;
}

/** The ids of a page, for commands on everything that matches. */
export function idsOf(
  conditions: readonly Sql[],
  after: Pick<Invocation, "id" | "created_at"> | undefined,
  size: number,
): Sql {
  const all = where([...conditions, ...behind("oldest", after)]);
  return sql`SELECT id, created_at FROM sys_invocation ${all} ${sorted("oldest")} LIMIT ${size}`;
}

/** How many there are in each status that is stored: quick, and without how they ended. */
export function countsOf(conditions: readonly Sql[]): Sql {
  return sql`SELECT status, count(*) AS n FROM sys_invocation ${where(conditions)} GROUP BY status`;
}

/** How many of the completed ones ended in which way. */
export function endedOf(conditions: readonly Sql[]): Sql {
  // The cheaper table lacks columns that a filter may name.
  const table = conditions.length === 0 ? sql`sys_invocation_status` : sql`sys_invocation`;
  return sql`SELECT ${ENDED} AS bucket, count(*) AS n FROM ${table}
    ${where([sql`status = 'completed'`, ...conditions])} GROUP BY bucket`;
}

/** The last entries of a journal, for a glance. */
export function lastEntriesOf(id: string): Sql {
  return sql`SELECT index, entry_type, name, appended_at FROM sys_journal WHERE id = ${id}
    ORDER BY index DESC LIMIT 8`;
}

function behind(order: Order, after: Pick<Invocation, "id" | "created_at"> | undefined): Sql[] {
  if (!after) return [];
  const { id, created_at: at } = after;
  // The first condition alone can be answered from an index.
  return order === "newest"
    ? [sql`created_at <= ${at}`, sql`(created_at < ${at} OR id < ${id})`]
    : [sql`created_at >= ${at}`, sql`(created_at > ${at} OR id > ${id})`];
}

function sorted(order: Order): Sql {
  return order === "newest" ? sql`ORDER BY created_at DESC, id DESC` : sql`ORDER BY created_at, id`;
}
