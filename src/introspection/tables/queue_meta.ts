import type { ColumnType } from "../column_type.ts";
import {
  CONTROLS,
  LOCK_NAME,
  MERGED_QUEUE,
  PARTITION_KEY,
  QUEUE_ID,
  QUEUE_KEYS,
  QUEUE_OF,
} from "./queue_parts.ts";
import { FIRST_RUNNABLE, STAGE } from "./queue_entries.ts";
import {
  body,
  NOW,
  PARTS,
  type PushedKeys,
  quoteTexts,
  type Table,
  type TableColumn,
} from "./table.ts";
import { WAIT_CAUSES, waitedMs } from "./waiting_columns.ts";

// One row for each virtual queue that has a stored invocation, called `t` in the parts. Averages are
// made of sums and counts, since a queue of a plain service has rows in several databases.

/** A column, by what is computed in turn. */
interface Measure {
  readonly type: ColumnType;
  /** Of each invocation. */
  readonly values: Readonly<Record<string, string>>;
  /** Of these values, in each database. */
  readonly sums: Readonly<Record<string, string>>;
  /** Of these sums. */
  readonly sql: string;
}

const inStage = (stage: string): Measure => ({
  type: "u64",
  values: { stage: STAGE },
  sums: { [`in_${stage}`]: `sum(t.stage = '${stage}')` },
  sql: `sum(t.in_${stage})`,
});
const extreme = (of: "min" | "max", name: string, value: string): Measure => ({
  type: "ts",
  values: { [name]: value },
  sums: { [`${name}_${of}`]: `${of}(t.${name})` },
  sql: `${of}(t.${name}_${of})`,
});
const average = (name: string, value: string): Measure => ({
  type: "dur",
  values: { [name]: value },
  sums: { [`${name}_sum`]: `total(t.${name})`, [`${name}_n`]: `count(t.${name})` },
  sql: `cast(round(sum(t.${name}_sum) / nullif(sum(t.${name}_n), 0)) as integer)`,
});
const unknown: Measure = { type: "dur", values: {}, sums: {}, sql: "null" };

const STARTED = body("runningAt");
const FINISHED = body("completedAt");
const WAITED = WAIT_CAUSES.map(waitedMs).join(" + ");
const SUSPENDED = `iif(${body("suspensions.count")} > 0, ${body("suspensions.ms")}
  + max(0, ${NOW} - coalesce(${body("suspensions.since")}, ${NOW})), null)`;
const LAST_ATTEMPT = `coalesce(${body("lastAttempt.startedAt")}, ${STARTED})`;

const MEASURES: Readonly<Record<string, Measure>> = {
  is_active: {
    type: "bool",
    values: { open: "t.status <> 'completed'" },
    sums: { open_n: "sum(t.open)" },
    sql: "sum(t.open_n) > 0",
  },
  created_at: extreme("min", "first_created", "t.created_at"),
  last_enqueued_at: extreme("max", "last_enqueued", "t.created_at"),
  last_start_at: extreme("max", "last_started", STARTED),
  last_attempt_at: extreme("max", "last_attempt", LAST_ATTEMPT),
  last_finish_at: extreme("max", "last_finished", FINISHED),
  avg_queue_duration: average("queued", `${STARTED} - ${FIRST_RUNNABLE}`),
  avg_inbox_duration: average("waited", WAITED),
  avg_run_duration: average("ran", `${FINISHED} - ${STARTED}`),
  avg_suspension_duration: average("suspended", SUSPENDED),
  avg_end_to_end_duration: average("lasted", `${FINISHED} - ${FIRST_RUNNABLE}`),
  avg_blocked_on_concurrency_rules: average("concurrency", waitedMs("concurrency")),
  avg_blocked_on_invoker_concurrency: average("invoker", waitedMs("invoker")),
  avg_blocked_on_invoker_throttling: unknown,
  avg_blocked_on_lock: average("lock", waitedMs("lock")),
  num_inbox: inStage("inbox"),
  num_running: inStage("running"),
  num_suspended: inStage("suspended"),
  num_paused: inStage("paused"),
  num_finished: inStage("finished"),
  avg_blocked_on_rate: average("rate", waitedMs("rate")),
  avg_blocked_on_pause: average("paused", waitedMs("paused")),
};

/** Conditions on the parts of a queue's name, for the rows that are grouped. */
const BY_NAME: Readonly<Record<string, string>> = {
  service_name: "t.service",
  scope: body("target.scope"),
  limit_key: body("limitKey"),
};

/** Groups of the rows that a statement wants, with the sums for the columns that it uses. */
function made(used: ReadonlySet<string>, pushed: PushedKeys): Pick<Table, "from" | "parts"> {
  const wanted = Object.entries(MEASURES).filter(([name]) => used.has(name));
  const isActive = pushed.get("is_active")?.every((one) => one === "true") ?? false;
  const conditions = [
    ...(isActive ? ["t.status <> 'completed'"] : []),
    ...Object.entries(BY_NAME).flatMap(([name, sql]) => {
      const values = pushed.get(name);
      return values ? [`${sql} in ${quoteTexts(values)}`] : [];
    }),
  ];
  const termsOf = (of: "values" | "sums") =>
    Object.entries<string>(Object.assign({}, ...wanted.map(([, one]) => one[of])));
  const where = conditions.length > 0 ? `where ${conditions.join(" and ")}` : "";
  // The limit keeps the inner query apart: rows are grouped by sorting, and bodies need not be sorted.
  const from = `(select ${QUEUE_KEYS.map((one) => `t.${one}`).join(", ")},
    min(t.id) as some_id${listed(termsOf("sums"))} from (
    select ${QUEUE_OF}, t.id${
    listed(termsOf("values"))
  } from invocation as t ${where} limit -1) as t
    group by 1, 2, 3, 4) as t`;
  const part = {
    // A statement may mention the table twice, and need other groups for each.
    name: `queue_${shortHash(from)}`,
    from,
    columns: [...QUEUE_KEYS, "some_id", ...termsOf("sums").map(([name]) => name)],
    keys: QUEUE_KEYS,
  };
  const shown = listed(wanted.map(([name, { sql }]) => [name, sql]));
  return {
    from: `(with ${PARTS}merged as (select ${MERGED_QUEUE}, min(t.some_id) as some_id${shown}
      from ${part.name} as t group by 1, 2, 3, 4)
      select t.*, ${QUEUE_ID} as id from merged as t) as t`,
    parts: [part, CONTROLS],
  };
}

/** More terms of a SELECT, by name. */
function listed(terms: readonly (readonly [name: string, sql: string])[]): string {
  return terms.map(([name, sql]) => `, ${sql} as ${name}`).join("");
}

/** A few digits that tell texts apart. */
function shortHash(text: string): string {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) % 2 ** 40;
  return hash.toString(36);
}

const text = (name: string, sql: string): TableColumn => ({ name, type: "str", sql });
const measured = ([name, { type }]: readonly [string, Measure]): TableColumn => ({
  name,
  type,
  sql: `t.${name}`,
});
const [active, ...others] = Object.entries(MEASURES).map(measured);
const open = { column: "is_active", value: "true" };

const meta: Table = {
  name: "sys_vqueue_meta",
  kind: "BASE TABLE",
  ...made(new Set(Object.keys(MEASURES)), new Map()),
  implies: {
    is_active: open,
    num_inbox: open,
    num_running: open,
    num_suspended: open,
    num_paused: open,
  },
  narrowed: ({ used, pushed }) => ({ ...meta, ...made(used, pushed) }),
  columns: [
    { name: "partition_key", type: "key", sql: PARTITION_KEY },
    { name: "id", type: "str", sql: "t.id", notNull: true },
    active!,
    {
      name: "queue_is_paused",
      type: "bool",
      sql: "exists (select 1 from control as k where k.kind = 'queue' and k.name = t.id)",
    },
    text("service_name", "t.service"),
    text("scope", "t.scope"),
    text("limit_key", "t.limit_key"),
    text("lock_name", LOCK_NAME),
    ...others,
  ],
};

/** Virtual queues and what is in them (docs/spec/queries.md#tables). */
export const queueMetaTables: readonly Table[] = [meta];
