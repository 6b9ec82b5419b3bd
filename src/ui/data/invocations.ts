import type { Status } from "../widgets/status.tsx";
import { query } from "./client.ts";
import type { Int } from "./json.ts";
import { abilities } from "./server.ts";
import { join, name, type Sql, sql } from "./sql.ts";

/** A row of `sys_invocation`, as far as lists show it. Columns that are null are absent. */
export interface Invocation {
  readonly id: string;
  readonly target: string;
  readonly target_service_name: string;
  readonly target_service_key?: string;
  readonly target_handler_name: string;
  readonly target_service_ty: "service" | "virtual_object" | "workflow";
  readonly status: string;
  readonly created_at: string;
  readonly modified_at?: string;
  readonly running_at?: string;
  readonly completed_at?: string;
  readonly scheduled_start_at?: string;
  readonly next_retry_at?: string;
  readonly retry_count?: Int;
  readonly last_failure?: string;
  readonly last_failure_error_code?: string;
  readonly last_failure_related_command_name?: string;
  readonly last_failure_related_command_type?: string;
  readonly completion_result?: string;
  readonly completion_failure?: string;
  /** Of this server only. */
  readonly waiting_reason?: string;
}

const COLUMNS = [
  ...["id", "target", "target_service_name", "target_service_key", "target_handler_name"],
  ...["target_service_ty", "status", "created_at", "modified_at", "running_at", "completed_at"],
  ...["scheduled_start_at", "next_retry_at", "retry_count", "last_failure"],
  ...["last_failure_error_code", "last_failure_related_command_name"],
  ...["last_failure_related_command_type", "completion_result", "completion_failure"],
];

/** The columns of `Invocation`, and more of the table, as far as the server at hand has them. */
export function invocationColumns(more: readonly string[] = []): Sql {
  const waiting = abilities().hasWaitingColumns ? ["waiting_reason"] : [];
  return join([...COLUMNS, ...waiting, ...more].map(name), ", ");
}

/** How a completed invocation ended, in the words of the UI (`widgets/status.tsx`), as an expression. */
export const ENDED = sql`CASE
  WHEN completion_result = 'success' THEN 'succeeded'
  WHEN LOWER(completion_failure) IN ('[409] cancelled', '[409] canceled') THEN 'canceled'
  WHEN LOWER(completion_failure) = '[409] killed' THEN 'killed'
  ELSE 'failed' END`;

/** Where an invocation stands, as an expression. */
export const STATUS = sql`CASE WHEN status = 'backing-off' THEN 'retrying'
  WHEN status <> 'completed' THEN status ELSE ${ENDED} END`;

const CANCELED = sql`LOWER(completion_failure) IN ('[409] cancelled', '[409] canceled')`;
const KILLED = sql`LOWER(completion_failure) = '[409] killed'`;

/** A condition for one of the words: in a form that is answered from an index. */
export function statusIs(status: Status): Sql {
  switch (status) {
    case "retrying":
      return sql`status = 'backing-off'`;
    case "succeeded":
      return sql`(status = 'completed' AND completion_result = 'success')`;
    case "canceled":
      return sql`(status = 'completed' AND completion_result = 'failure' AND ${CANCELED})`;
    case "killed":
      return sql`(status = 'completed' AND completion_result = 'failure' AND ${KILLED})`;
    case "failed":
      return sql`(status = 'completed' AND completion_result = 'failure' AND
        NOT ${CANCELED} AND NOT ${KILLED})`;
    default:
      return sql`status = ${status}`;
  }
}

/** Why it does not run, in a sentence. Undefined: it runs, or has ended. */
export function waitingOf(row: Invocation): string | undefined {
  // The reference has no column for it.
  switch (row.status) {
    case "scheduled":
      return row.waiting_reason ?? `starts at ${row.scheduled_start_at}`;
    case "pending":
      return row.waiting_reason ?? "waits for its turn";
    case "backing-off":
      return row.waiting_reason ?? `waits until ${row.next_retry_at} for its next attempt`;
    case "suspended":
      return row.waiting_reason ?? "waits for what it awaits";
    case "paused":
      return row.waiting_reason ?? "is paused until it is resumed";
    default:
      return row.waiting_reason;
  }
}

/** Rows by their ids, in no order. */
export async function invocationsOf(ids: readonly string[], signal: AbortSignal) {
  const statement = sql`SELECT ${invocationColumns()} FROM sys_invocation WHERE id IN ${ids}`;
  return await query<Invocation>(statement, signal);
}
