import type { Int } from "../../data/json.ts";
import { isPerdure } from "../../data/server.ts";
import { type Sql, sql, where } from "../../data/sql.ts";

/** Rows of a section: those that matter most come first. */
export const ROWS_MAX = 200;

export interface RuleRow {
  readonly pattern: string;
  readonly concurrency?: Int;
  readonly description?: string;
  readonly disabled: boolean;
  readonly version: Int;
  readonly last_modified: string;
  readonly rate_count?: Int;
  readonly rate_period?: string;
  readonly rate_burst?: Int;
}

/** Columns that only this project's server has: rates. */
const rates = () => isPerdure() ? sql`, rate_count, rate_period, rate_burst` : sql``;

/** The rule book. */
export function rulesStatement(): Sql {
  return sql`SELECT pattern, concurrency, description, disabled, version, last_modified${rates()}
    FROM sys_rules ORDER BY pattern LIMIT ${ROWS_MAX}`;
}

export interface CounterRow {
  readonly scope: string;
  readonly l1?: string;
  readonly l2?: string;
  readonly usage: Int;
  readonly concurrency_limit?: Int;
  readonly rule_pattern?: string;
  readonly num_waiters: Int;
  readonly rate_count?: Int;
  readonly rate_period?: string;
  readonly rate_burst?: Int;
  readonly rate_available?: Int;
}

/** Counters of scopes and limit keys, those that most wait for first. */
export function countersStatement(): Sql {
  const available = isPerdure() ? sql`, rate_available` : sql``;
  return sql`SELECT scope, l1, l2, usage, concurrency_limit, rule_pattern, num_waiters${rates()}
    ${available} FROM sys_user_limits ORDER BY num_waiters DESC, usage DESC LIMIT ${ROWS_MAX}`;
}

export interface QueueRow {
  readonly id: string;
  readonly queue_is_paused: boolean;
  readonly service_name: string;
  readonly scope?: string;
  readonly limit_key?: string;
  readonly lock_name?: string;
  readonly num_inbox: Int;
  readonly num_running: Int;
  readonly num_suspended: Int;
  readonly num_paused: Int;
}

/** Queues with something in them, the longest first. `id`: that one only, also if it is empty. */
export function queuesStatement(id: string | null): Sql {
  return sql`SELECT id, queue_is_paused, service_name, scope, limit_key, lock_name,
    num_inbox, num_running, num_suspended, num_paused FROM sys_vqueue_meta
    WHERE ${id === null ? sql`is_active = true` : sql`id = ${id}`}
    ORDER BY num_inbox DESC, num_running DESC LIMIT ${ROWS_MAX}`;
}

export interface BlockedRow {
  readonly id: string;
  readonly status: string;
  readonly head_entry_id?: string;
  readonly scheduled_at?: string;
  readonly blocked_on?: string;
  readonly blocked_on_json?: string;
}

/** What the first one of each queue waits for. `id`: of that queue only. */
export function blockedStatement(id: string | null): Sql {
  return sql`SELECT id, status, head_entry_id, scheduled_at, blocked_on,
    blocked_on_json FROM sys_scheduler ${where(id === null ? [] : [sql`id = ${id}`])}
    ORDER BY num_inbox DESC LIMIT ${ROWS_MAX}`;
}
