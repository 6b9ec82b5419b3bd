import { objectOfInvocation } from "./object_name.ts";
import { queueId } from "./queue_id.ts";
import { isKind, isRunning, STATUS_KIND } from "./shown_status.ts";
import {
  body,
  partitionKeyOf,
  type PushedKeys,
  quoteTexts,
  type Table,
  type TableColumn,
} from "./table.ts";
import { SLOT_WAIT_MS, type WaitCause, waitedMs } from "./waiting_columns.ts";

// Invocations as entries of virtual queues. `t` is a stored invocation: see `invocation_tables.ts`.

const HOLDS = `${body("status.holds")} = 1`;

/** The stages of an entry, with the stored statuses that are shown so. */
const STAGES: Readonly<Record<string, readonly string[]>> = {
  inbox: ["scheduled", "inboxed", "queued", "backingOff", "invoked"],
  running: ["invoked", "backingOff"],
  suspended: ["suspended"],
  paused: ["paused"],
  finished: ["completed"],
};

/**
 * The stage of an entry. One that backs off is in the inbox, unless it keeps its slots: then it is
 * running. So is one whose attempt waits for a slot of the invoker.
 */
export const STAGE = `case ${STATUS_KIND} when 'invoked' then iif(${isRunning}, 'running', 'inbox')
  when 'backingOff' then iif(${HOLDS}, 'running', 'inbox') when 'completed' then 'finished'
  when 'suspended' then 'suspended' when 'paused' then 'paused' else 'inbox' end`;

const FAILED = `case when ${body("status.failure.code")} is null then 'succeeded'
  when ${body("status.failure.code")} = 409 then case lower(${body("status.failure.message")})
  when 'killed' then 'killed' when 'canceled' then 'cancelled' when 'cancelled' then 'cancelled'
  else 'failed' end else 'failed' end`;
/** Whether an attempt of it ever began: the first one may wait for a slot of the invoker. */
const HAS_RUN = `(${body("runningAt")} is not null and not ifnull(${isKind("invoked")}
  and ${body("attempt")} = 1 and ${body("heard")} = 0 and not ${isRunning}, 0))`;
const STATUS = `case ${STATUS_KIND} when 'completed' then ${FAILED}
  when 'scheduled' then 'scheduled' when 'backingOff' then 'backing-off'
  else iif(${HAS_RUN}, 'started', 'new') end`;

/** Failed attempts since it last started, and the running one. */
const errors = `(${body("failures")} + coalesce(${body("spared")}, 0))`;
const live = (column: string) => `(select l.${column} from live as l where l.id = t.id)`;
const holdsLock = `exists (select 1 from lock as k where k.object = ${objectOfInvocation}
  and k.holder = t.id)`;
/** When it was, or will be, able to start for the first time. */
export const FIRST_RUNNABLE = `coalesce(${body("scheduledAt")}, t.created_at)`;
const RUN_AT = `case when ${isKind("backingOff")} and not coalesce(${HOLDS}, 0)
  then ${body("status.until")}
  when ${isKind("scheduled", "inboxed", "queued")} then ${FIRST_RUNNABLE} end`;

const partitionKey: TableColumn = {
  name: "partition_key",
  type: "key",
  sql: partitionKeyOf("t.id"),
};
const entryId: TableColumn = { name: "entry_id", type: "str", sql: "t.id", notNull: true };
const stage: TableColumn = {
  name: "stage",
  type: "str",
  sql: STAGE,
  notNull: true,
  values: Object.keys(STAGES),
};
const state: readonly TableColumn[] = [
  stage,
  { name: "status", type: "str", sql: STATUS, notNull: true },
  { name: "has_lock", type: "bool", sql: `coalesce(${holdsLock}, 0)` },
];
const sequence: TableColumn = { name: "sequence_number", type: "u64", sql: "t.created_at" };
const kind: TableColumn = {
  name: "entry_kind",
  type: "str",
  sql: "'invocation'",
  notNull: true,
  values: ["invocation"],
};
const number = (name: string, sql: string): TableColumn => ({ name, type: "u32", sql });
const time = (name: string, sql: string): TableColumn => ({ name, type: "ts", sql });

const history: readonly TableColumn[] = [
  time("created_at", "t.created_at"),
  time("transitioned_at", "t.modified_at"),
  number("num_attempts", `max(${errors} + ${isRunning}, ${HAS_RUN})`),
  number("num_errors", errors),
  number(
    "num_pauses",
    "(select count(*) from event as e where e.id = t.id and e.kind = 'paused')",
  ),
  number("num_suspensions", `coalesce(${body("suspensions.count")}, 0)`),
  number("num_yields", `coalesce(${body("suspensions.yields")}, 0)`),
  time("first_attempt_at", `iif(${HAS_RUN}, ${body("runningAt")}, null)`),
  time(
    "latest_attempt_at",
    `coalesce(${live("started_at")}, ${body("lastAttempt.startedAt")},
      iif(${HAS_RUN}, ${body("runningAt")}, null))`,
  ),
  time("first_runnable_at", FIRST_RUNNABLE),
  { name: "deployment", type: "str", sql: body("pin.deployment") },
];

/** Causes of waiting as the reference calls them. The others exist there only. */
const CAUSES: Readonly<Record<string, WaitCause | undefined>> = {
  invoker_concurrency: "invoker",
  throttling_rules: "rate",
  invoker_throttling: undefined,
  invoker_memory: undefined,
  concurrency_rules: "concurrency",
  lock: "lock",
  deployment_concurrency: undefined,
};

const blocked = (which: string, of: (cause: WaitCause) => string): TableColumn[] =>
  Object.entries(CAUSES).map(([name, cause]) => ({
    name: `${which}_blocked_on_${name}`,
    type: "dur",
    sql: cause === undefined ? "null" : of(cause),
  }));

/** The present wait: what all waits are more than those that are over. */
const present = (cause: WaitCause) =>
  cause === "invoker" ? SLOT_WAIT_MS : `case when ${isKind("inboxed", "queued")}
    then ${waitedMs(cause)} - coalesce(${body(`waitedMs.${cause}`)}, 0) end`;

function seek(pushed: PushedKeys): string | undefined {
  const ids = pushed.get("entry_id");
  if (ids) return `t.id in ${quoteTexts(ids)}`;
  const stages = pushed.get("stage");
  if (!stages) return undefined;
  const stored = new Set(stages.flatMap((one) => STAGES[one] ?? []));
  const found = isKind(...stored);
  return stored.has("completed") ? found : `${STATUS_KIND} <> 'completed' and ${found}`;
}

const common = { kind: "BASE TABLE", from: "invocation as t", keys: ["t.id"], ids: "entry_id" };

const entries: Table = {
  ...common,
  kind: "BASE TABLE",
  name: "sys_vqueues",
  seek,
  columns: [
    partitionKey,
    { name: "id", type: "str", sql: queueId, notNull: true },
    ...state,
    time("run_at", RUN_AT),
    sequence,
    entryId,
    kind,
    ...history,
  ],
};

const statuses: Table = {
  ...common,
  kind: "BASE TABLE",
  name: "sys_vqueue_entry_status",
  seek,
  columns: [
    partitionKey,
    entryId,
    { name: "vqueue_id", type: "str", sql: queueId, notNull: true },
    ...state,
    time("next_at", `case when ${isKind("completed")} then t.expires_at else ${RUN_AT} end`),
    sequence,
    kind,
    ...history,
    { name: "needed_memory", type: "u64", sql: "null" },
    number("retry_attempts", body("failures")),
    number("retry_count_since_last_stored_command", body("failuresSinceCommand")),
    ...blocked("latest_attempt", present),
    ...blocked("total", waitedMs),
    { name: "total_blocked_on_pause", type: "dur", sql: waitedMs("paused") },
  ],
};

/** Entries of virtual queues (docs/spec/queries.md#tables). */
export const queueEntryTables: readonly Table[] = [entries, statuses];
