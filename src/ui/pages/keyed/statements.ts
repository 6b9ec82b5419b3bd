import type { Int } from "../../data/json.ts";
import { abilities } from "../../data/server.ts";
import { type Sql, sql } from "../../data/sql.ts";
import type { StatusColumns } from "../../widgets/status.tsx";

/** An object, or a run of a workflow. */
export interface Keyed {
  readonly service: string;
  readonly key: string;
  /** Absent: none. */
  readonly scope?: string | undefined;
}

/** Values that are read with the list. Larger ones only when state is edited. */
const VALUE_BYTES_MAX = 65_536;
/** Entries of a state that are shown. */
export const ENTRIES_MAX = 1_000;
/** Of a queue. */
export const QUEUE_MAX = 200;
/** The newest invocations, which are searched for those of one key: no index has these. */
export const SEARCHED_MAX = 50_000;
const RECENT_MAX = 20;

/** The condition that something is in the scope of a key. Only servers with scopes have that column. */
export function inScope({ scope }: Keyed, column: Sql): Sql {
  if (!abilities().hasLimits) return sql`TRUE`;
  return scope === undefined ? sql`${column} IS NULL` : sql`${column} = ${scope}`;
}

export interface HolderRow extends StatusColumns {
  readonly id: string;
  readonly handler: string;
  readonly running_at?: string;
  readonly waiting_reason?: string;
}

/** Who holds the lock. */
export function holderOf(keyed: Keyed): Sql {
  const reason = abilities().hasWaitingColumns ? sql`, i.waiting_reason` : sql``;
  return sql`SELECT i.id, i.target_handler_name AS handler, i.status, i.running_at${reason}
    FROM sys_keyed_service_status k JOIN sys_invocation i ON i.id = k.invocation_id
    WHERE k.service_name = ${keyed.service} AND k.service_key = ${keyed.key}
    AND ${inScope(keyed, sql`k.scope`)}`;
}

export interface QueueRow {
  readonly id: string;
  readonly handler: string;
  readonly sequence_number: Int;
  readonly created_at: string;
}

/** What waits for the lock, in its order. */
export function queueOf(keyed: Keyed): Sql {
  return sql`SELECT q.id, i.target_handler_name AS handler, q.sequence_number, q.created_at
    FROM sys_inbox q JOIN sys_invocation_status i ON i.id = q.id
    WHERE q.service_name = ${keyed.service} AND q.service_key = ${keyed.key}
    AND ${inScope(keyed, sql`q.scope`)} ORDER BY q.sequence_number LIMIT ${QUEUE_MAX}`;
}

export interface StateRow {
  readonly key: string;
  readonly value_length: Int;
  /** Hexadecimal. Absent: too large for a list. */
  readonly value?: string;
  /** Absent: the value is no UTF-8, or too large. */
  readonly value_utf8?: string;
}

/** The state, large values without their bytes. */
export function stateOf(keyed: Keyed): Sql {
  const isSmall = sql`value_length <= ${VALUE_BYTES_MAX}`;
  return sql`SELECT key, value_length, CASE WHEN ${isSmall} THEN value END AS value,
    CASE WHEN ${isSmall} THEN value_utf8 END AS value_utf8 FROM state
    WHERE ${ofKey(keyed)} ORDER BY key LIMIT ${ENTRIES_MAX + 1}`;
}

/** The state with all its bytes: for edits. */
export function wholeStateOf(keyed: Keyed): Sql {
  return sql`SELECT key, value_length, value, value_utf8 FROM state WHERE ${ofKey(keyed)}`;
}

function ofKey(keyed: Keyed): Sql {
  return sql`service_name = ${keyed.service} AND service_key = ${keyed.key}
    AND ${inScope(keyed, sql`scope`)}`;
}

export interface RecentRow extends StatusColumns {
  readonly id: string;
  readonly handler: string;
  readonly created_at: string;
  readonly completed_at?: string;
}

/** Its newest invocations. `but`: a handler that is left out. */
export function recentOf(keyed: Keyed, but?: string): Sql {
  const others = but === undefined ? sql`` : sql`AND r.target_handler_name <> ${but}`;
  const scope = abilities().hasLimits ? sql`, scope` : sql``;
  return sql`SELECT r.id, r.target_handler_name AS handler, r.status, r.completion_result,
    r.completion_failure, r.created_at, r.completed_at
    FROM (SELECT id, target_handler_name, target_service_name, target_service_key, status,
      completion_result, completion_failure, created_at, completed_at${scope}
      FROM sys_invocation ORDER BY created_at DESC LIMIT ${SEARCHED_MAX}) r
    WHERE r.target_service_name = ${keyed.service} AND r.target_service_key = ${keyed.key} ${others}
    AND ${inScope(keyed, sql`r.scope`)} ORDER BY r.created_at DESC LIMIT ${RECENT_MAX}`;
}
