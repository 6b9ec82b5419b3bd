import { STATUS } from "../../data/invocations.ts";
import type { Int } from "../../data/json.ts";
import { abilities } from "../../data/server.ts";
import { join, type Sql, sql } from "../../data/sql.ts";

/** Open invocations that are grouped by cause, so that a backlog of millions does not stop the page. */
export const OPEN_MAX = 50_000;
/** Kinds of trouble that are read, those with most invocations first. */
const KINDS_MAX = 500;
/** Locks that are read, those with most waiting first. */
const LOCKS_MAX = 20;
/** Characters of a failure that make it one of a kind. The rest is a stack trace, mostly. */
const FAILURE_CHARS = 200;
/** The newest invocations that figures are made of. */
export const NEWEST_MAX = 20_000;

/** How far back figures reach, what they are made of, and how fine they are over time. */
export const RANGES = {
  hour: { completed: sql`INTERVAL '1 hour'`, accepted: sql`INTERVAL '1 day'`, binMinutes: 2 },
  day: { completed: sql`INTERVAL '1 day'`, accepted: sql`INTERVAL '2 days'`, binMinutes: 48 },
} as const;
export type Range = keyof typeof RANGES;
/** Parts of a range, each of so many minutes. */
export const BINS = 30;

/** A group of things that are open, or that somebody has to care for. */
export interface OpenRow {
  readonly cause: "count" | "open" | "lock" | "queue" | "kafka";
  readonly service?: string;
  readonly handler?: string;
  /** Of an object; of Kafka the source. */
  readonly key?: string;
  readonly status?: string;
  readonly deployment?: string;
  /** A failure, the limit key of a queue, or all counts. */
  readonly text?: string;
  /** Of a holder, a queue or a subscription. */
  readonly id?: string;
  readonly n?: Int;
  readonly since?: string;
}

/** Why invocations are retried: the first characters, which make two of one kind. */
const RETRIED = sql`LEFT(last_failure, ${FAILURE_CHARS})`;
/** What has paused them, which is a part of what they wait for. */
const PAUSED = sql`LEFT(waiting_on ->> 'error', ${FAILURE_CHARS})`;

/** Why invocations with a status of SQL fail. Not every server says what has paused one. */
export function failureOf(status: string): Sql {
  if (status === "backing-off") return RETRIED;
  return abilities().hasWaitingColumns ? PAUSED : sql`NULL`;
}

/** Values of `sys_invocation.status` of what neither runs nor fails. */
export const WAITING: readonly string[] = ["pending", "scheduled", "ready", "suspended"];
/** What is counted: statuses together. */
const COUNTED: readonly (readonly string[])[] = [["running"], ["backing-off"], WAITING, ["paused"]];

/**
 * All counts as one text, with commas between. Each is exact and reads nothing but an index, which a
 * GROUP BY does not; as rows of their own they are too many for SQLite's parser.
 */
const COUNTS = sql`SELECT 'count' AS cause, NULL AS service, NULL AS handler, NULL AS key,
  NULL AS status, NULL AS deployment, CONCAT(${
  join(
    COUNTED.map((all) => sql`(SELECT count(*) FROM sys_invocation WHERE status IN ${all})`),
    ", ',', ",
  )
}) AS text, NULL AS id, NULL AS n, NULL AS since`;

/** How many run, retry, wait and are paused, of the rows of `openStatement`. */
export function countsIn(rows: readonly OpenRow[]): readonly number[] {
  const text = rows.find(({ cause }) => cause === "count")?.text ?? "";
  return COUNTED.map((_, at) => Number(text.split(",")[at] ?? 0));
}

/** Open invocations by what they are. `among`: which of them; `failure`: by which failures as well. */
const kinds = (among: Sql, failure: Sql) =>
  sql`SELECT * FROM (SELECT 'open' AS cause, o.service AS service, o.handler AS handler,
  NULL AS key, o.status AS status, o.deployment AS deployment, o.failure AS text, NULL AS id,
  count(*) AS n, min(o.created_at) AS since
  FROM (SELECT target_service_name AS service, target_handler_name AS handler, status, created_at,
    pinned_deployment_id AS deployment, ${failure} AS failure
    FROM sys_invocation WHERE ${among} LIMIT ${OPEN_MAX}) o
  GROUP BY o.service, o.handler, o.status, o.deployment, o.failure
  ORDER BY n DESC LIMIT ${KINDS_MAX}) kinds`;

/** What has paused those that are paused. Apart from the others, since SQLite takes no deeper statement. */
export function pausedStatement(): Sql {
  return kinds(sql`status = 'paused'`, failureOf("paused"));
}

const LOCKS = sql`SELECT * FROM (SELECT 'lock' AS cause, q.service AS service, NULL AS handler,
  q.key AS key, NULL AS status, NULL AS deployment, NULL AS text, NULL AS id,
  count(*) AS n, min(q.created_at) AS since
  FROM (SELECT service_name AS service, service_key AS key, created_at FROM sys_inbox
    LIMIT ${OPEN_MAX}) q
  GROUP BY q.service, q.key ORDER BY n DESC LIMIT ${LOCKS_MAX}) locks`;

/** Queues that are paused: apart as well. */
export const QUEUES = sql`SELECT 'queue' AS cause, service_name AS service, NULL AS handler,
  lock_name AS key, NULL AS status, NULL AS deployment, limit_key AS text, id AS id,
  num_inbox AS n, created_at AS since
  FROM sys_vqueue_meta WHERE is_active = true AND queue_is_paused`;

const SUBSCRIPTIONS = sql`SELECT 'kafka' AS cause, service_name AS service,
  handler_name AS handler, source AS key, state AS status, NULL AS deployment, last_error AS text,
  id AS id, NULL AS n, last_error_at AS since
  FROM sys_subscription WHERE state IN ('blocked', 'failing')`;

/** All that is open by what it is, and what stands still: one statement. */
export function openStatement(): Sql {
  const { hasKafkaTables } = abilities();
  const open = kinds(
    sql`status <> 'completed'`,
    sql`CASE WHEN status = 'backing-off' THEN ${RETRIED} END`,
  );
  const parts = [COUNTS, LOCKS, open, ...hasKafkaTables ? [SUBSCRIPTIONS] : []];
  return join(parts, "\nUNION ALL ");
}

/** Upper bounds of durations, in ms. What took longer than the last is in a group of its own. */
export const BOUNDS_MS: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000],
  ...[60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 21_600_000],
];

/** Invocations of a service that were completed within some minutes, and took about as long. */
export interface DoneRow {
  readonly service: string;
  /** The beginning of these minutes. Absent: not completed in the range. */
  readonly minute?: string;
  /** How they ended, in the words of the UI. */
  readonly ended?: string;
  /** The bound of `BOUNDS_MS` that they took less than. */
  readonly took?: Int;
  readonly n: Int;
  /** When the first of them was accepted. */
  readonly first: string;
}

const TOOK = join(
  BOUNDS_MS.map((ms) =>
    sql`WHEN completed_at - created_at < INTERVAL '${sql`${ms}`} milliseconds' THEN ${ms}`
  ),
  " ",
);

/** What was completed in a range, of the newest that were accepted in a longer one: read from an index. */
export function doneIn(range: Range): Sql {
  const { completed, accepted, binMinutes } = RANGES[range];
  const isIn = sql`completed_at > now() - ${completed}`;
  return sql`SELECT d.service AS service, d.minute AS minute, d.ended AS ended,
  d.took AS took, count(*) AS n, min(d.created_at) AS first
  FROM (SELECT r.target_service_name AS service, r.created_at AS created_at,
    CASE WHEN ${isIn} THEN date_bin(INTERVAL '${sql`${binMinutes}`} minutes', completed_at,
      TIMESTAMP '1970-01-01T00:00:00') END AS minute,
    CASE WHEN ${isIn} THEN ${STATUS} END AS ended,
    CASE WHEN ${isIn} THEN CASE ${TOOK} END END AS took
    FROM (SELECT target_service_name, created_at, completed_at, status, completion_result,
      completion_failure FROM sys_invocation_status
      WHERE created_at > now() - ${accepted} ORDER BY created_at DESC
      LIMIT ${NEWEST_MAX}) r) d
  GROUP BY d.service, d.minute, d.ended, d.took`;
}

/** Who holds an object that others wait for. */
export interface HolderRow {
  readonly service_name: string;
  readonly service_key: string;
  readonly id: string;
  readonly handler: string;
  readonly status: string;
  readonly running_at?: string;
  readonly waiting_reason?: string;
}

/** The holders of objects. */
export function holdersOf(objects: readonly OpenRow[]): Sql {
  const keys = objects.map(({ service = "", key = "" }) =>
    sql`(k.service_name = ${service} AND k.service_key = ${key})`
  );
  const reason = abilities().hasWaitingColumns ? sql`, h.waiting_reason` : sql``;
  return sql`SELECT k.service_name, k.service_key, h.id, h.target_handler_name AS handler, h.status,
    h.running_at${reason}
    FROM sys_keyed_service_status k JOIN sys_invocation h ON h.id = k.invocation_id
    WHERE ${join(keys, " OR ")}`;
}
