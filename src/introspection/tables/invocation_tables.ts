import { ALIAS, OWN } from "../../names.ts";
import { FAILED_COMMAND } from "./command_name.ts";
import { failureText, outcomeText } from "./failure_text.ts";
import { queueId } from "./queue_id.ts";
import {
  IS_OPEN,
  isKind,
  isRunning,
  RAW_STATUS,
  RAW_STATUSES,
  seekInvocations as seek,
  SHOWN_STATUS,
  SHOWN_STATUSES,
} from "./shown_status.ts";
import { body, partitionKeyOf, type Table, type TableColumn } from "./table.ts";
import { reasonColumns } from "./wait_reason.ts";
import { waitingColumns } from "./waiting_columns.ts";

// `t` is a stored invocation: see `storage/schema` for its columns and `model/invocation.ts` for
// what its body holds. `live` is the table of attempts that run: see `live_rows.ts`.

const only = (condition: string, value: string) => `case when ${condition} then ${value} end`;
/** In parentheses: `||` binds no looser than `->>`. */
const live = (column: string) => `(select l.${column} from live as l where l.id = t.id)`;
/** A running attempt is one more than those that failed, whether they are held against it or not. */
const attempts = `${body("failures")} + coalesce(${body("spared")}, 0) + ${isRunning}`;
/** Nested trees are text within the JSON; `->>` gives either as text. */
const awaiting = only(isKind("suspended"), body("status.awaiting"));
const hasAttempts = `${IS_OPEN} and ${isKind("invoked", "backingOff")} and (${attempts}) > 0`;
/** Who was paused before a retry still shows what that was to follow. */
const showsAttempts = `(${hasAttempts} or ` +
  `${isKind("paused")} and ${body("lastAttempt.startedAt")} is not null)`;
const awaited = (path: string) =>
  only(`${isKind("suspended")} and json_valid(${awaiting})`, `(${awaiting}) -> '$.${path}'`);

const text = (name: string, sql: string, values?: readonly string[]): TableColumn => ({
  name,
  type: "str",
  sql,
  ...(values && { values }),
});
const missing = (name: string): TableColumn => ({ name, type: "str", sql: "null" });
const time = (name: string, path: string): TableColumn => ({ name, type: "ts", sql: body(path) });

const id: TableColumn = { name: "id", type: "str", sql: "t.id", notNull: true };
const partitionKey: TableColumn = {
  name: "partition_key",
  type: "key",
  sql: partitionKeyOf("t.id"),
};

const vqueue = text("vqueue_id", queueId);

const target: readonly TableColumn[] = [
  text("target", "coalesce(t.service || '/' || t.key, t.service) || '/' || t.handler"),
  text("target_service_name", "t.service"),
  text("target_service_key", "t.key"),
  text("target_handler_name", "t.handler"),
  text("target_service_ty", body("target.type"), ["service", "virtual_object", "workflow"]),
  text("scope", body("target.scope")),
  text("limit_key", body("limitKey")),
  text("idempotency_key", body("idempotencyKey")),
];

const isBy = (by: string) => `${body("origin.by")} = '${by}'`;
const calledBy = {
  invoked_by: text(
    "invoked_by",
    `case ${body("origin.by")} when 'restart' then 'restart_as_new' else ${body("origin.by")} end`,
    ["ingress", "service", "subscription", "restart_as_new"],
  ),
  invoked_by_service_name: text(
    "invoked_by_service_name",
    `substr(${body("origin.target")}, 1, instr(${body("origin.target")}, '/') - 1)`,
  ),
  invoked_by_id: text("invoked_by_id", only(isBy("service"), body("origin.id"))),
  invoked_by_subscription_id: text(
    "invoked_by_subscription_id",
    only(isBy("subscription"), body("origin.id")),
  ),
  invoked_by_target: text("invoked_by_target", body("origin.target")),
  restarted_from: text("restarted_from", only(isBy("restart"), body("origin.id"))),
} as const;

/** What has no journal yet shows no size of it. */
const hasJournal = `not ${isKind("scheduled", "inboxed")} and ` +
  `(not ${isKind("queued")} or ${body("runningAt")} is not null)`;
const journalSize = (path: string) => only(hasJournal, body(path));

const progress: readonly TableColumn[] = [
  text("pinned_deployment_id", body("pin.deployment")),
  { name: "pinned_service_protocol_version", type: "u32", sql: body("pin.protocol") },
  text("trace_id", body("trace.id")),
  { name: "journal_size", type: "u32", sql: journalSize("journal") },
  { name: "journal_commands_size", type: "u32", sql: journalSize("commands") },
  { name: "created_at", type: "ts", sql: "t.created_at", notNull: true },
  {
    name: `created_using_${OWN}_version`,
    aliases: [`created_using_${ALIAS}_version`],
    type: "str",
    sql: "null",
  },
  { name: "modified_at", type: "ts", sql: "t.modified_at", notNull: true },
  {
    name: "inboxed_at",
    type: "ts",
    sql: `coalesce(${body("inboxedAt")}, ${only(isKind("queued"), body("status.since"))})`,
  },
  { name: "scheduled_at", type: "ts", sql: only(body("scheduledAt"), "t.created_at") },
  time("scheduled_start_at", "scheduledAt"),
  time("running_at", "runningAt"),
  time("completed_at", "completedAt"),
  { name: "completion_retention", type: "dur", sql: body("retention.resultMs") },
  { name: "journal_retention", type: "dur", sql: body("retention.journalMs") },
];

const waiting: readonly TableColumn[] = [
  { name: "suspended_waiting_for_completions", type: "u32s", sql: awaited("completions") },
  { name: "suspended_waiting_for_signals", type: "u32s", sql: awaited("signals") },
  { name: "suspended_waiting_future_json", type: "future", sql: awaiting },
];

const result: readonly TableColumn[] = [
  text(
    "completion_result",
    only(isKind("completed"), `iif(${body("status.failure.code")} is null, 'success', 'failure')`),
    ["success", "failure"],
  ),
  text(
    "completion_failure",
    only(
      `${body("status.failure.code")} is not null`,
      outcomeText(body("status.failure.code"), body("status.failure.message")),
    ),
  ),
];

const related = (name: string, type: TableColumn["type"], sql: string): TableColumn => ({
  name: `last_failure_related_${name}`,
  type,
  sql,
});

/**
 * Of the attempts since the last start: null where there were none, or where they no longer count. A
 * running one is shown by what is known of it, and else by what was known of the one before it.
 */
const attempt = {
  retry_count: { name: "retry_count", type: "u64", sql: attempts },
  last_start_at: {
    name: "last_start_at",
    type: "ts",
    sql: `coalesce(${live("started_at")}, ${body("lastAttempt.startedAt")})`,
  },
  next_retry_at: {
    name: "next_retry_at",
    type: "ts",
    sql: only(isKind("backingOff"), body("status.until")),
  },
  last_attempt_deployment_id: text(
    "last_attempt_deployment_id",
    `coalesce(${live("deployment")}, ${body("lastAttempt.deployment")}, ${body("pin.deployment")})`,
  ),
  last_attempt_server: text(
    "last_attempt_server",
    `coalesce(${live("server")}, ${body("lastAttempt.server")})`,
  ),
  last_failure: text(
    "last_failure",
    `${failureText(body("lastFailure.status"), body("lastFailure.message"))} || ` +
      `coalesce(char(10) || ${body("lastFailure.stacktrace")}, '')`,
  ),
  last_failure_error_code: text("last_failure_error_code", body("lastFailure.code")),
} as const satisfies Record<string, TableColumn>;

const relatedEntry = [
  related("entry_index", "u64", "null"),
  related("entry_name", "str", "null"),
  related("entry_type", "str", "null"),
];
const relatedCommand = [
  related("command_index", "u64", body("lastFailure.related.index")),
  related("command_name", "str", body("lastFailure.related.name")),
  related("command_type", "str", FAILED_COMMAND),
];

const status: Table = {
  name: "sys_invocation_status",
  kind: "BASE TABLE",
  from: "invocation as t",
  keys: ["t.id"],
  ids: "id",
  seek,
  columns: [
    partitionKey,
    id,
    vqueue,
    { name: "status", type: "str", sql: RAW_STATUS, notNull: true, values: RAW_STATUSES },
    ...result,
    ...target,
    calledBy.invoked_by,
    calledBy.invoked_by_id,
    calledBy.invoked_by_subscription_id,
    calledBy.invoked_by_service_name,
    calledBy.invoked_by_target,
    calledBy.restarted_from,
    ...progress,
    ...waiting,
    ...waitingColumns,
  ],
};

const state: Table = {
  name: "sys_invocation_state",
  kind: "BASE TABLE",
  from: "invocation as t",
  keys: ["t.id"],
  where: hasAttempts,
  ids: "id",
  seek,
  columns: [
    partitionKey,
    id,
    { name: "in_flight", type: "bool", sql: isRunning },
    attempt.retry_count,
    attempt.last_start_at,
    attempt.last_attempt_deployment_id,
    attempt.last_attempt_server,
    attempt.next_retry_at,
    attempt.last_failure,
    attempt.last_failure_error_code,
    ...relatedCommand,
    ...relatedEntry,
    missing("last_awaiting_on_future_json"),
  ],
};

/** Columns of `sys_invocation_state` are null for most invocations that are not in it. */
const fromState = (columns: readonly TableColumn[]) =>
  columns.map((one) => ({ ...one, sql: only(showsAttempts, one.sql) }));

const invocation: Table = {
  name: "sys_invocation",
  kind: "VIEW",
  from: "invocation as t",
  keys: ["t.id"],
  ids: "id",
  seek,
  columns: [
    id,
    vqueue,
    ...target,
    calledBy.invoked_by,
    calledBy.invoked_by_service_name,
    calledBy.invoked_by_id,
    calledBy.invoked_by_subscription_id,
    calledBy.invoked_by_target,
    calledBy.restarted_from,
    ...progress,
    ...waiting,
    ...fromState([
      attempt.retry_count,
      attempt.last_start_at,
      attempt.next_retry_at,
      attempt.last_attempt_deployment_id,
      attempt.last_attempt_server,
      attempt.last_failure,
      attempt.last_failure_error_code,
      ...relatedEntry,
      ...relatedCommand,
    ]),
    missing("last_awaiting_on_future_json"),
    { name: "status", type: "str", sql: SHOWN_STATUS, notNull: true, values: SHOWN_STATUSES },
    ...result,
    ...waitingColumns,
    ...reasonColumns,
    { name: "failed_attempts", type: "u64", sql: `coalesce(${body("failed")}, 0)` },
  ],
};

/** The three tables of invocations (docs/spec/queries.md#tables). */
export const invocationTables: readonly Table[] = [invocation, state, status];
