import { EVERY_MS, type Used, useQuery } from "../../data/hooks.ts";
import type { Int } from "../../data/json.ts";
import { join, type Sql, sql, where } from "../../data/sql.ts";
import type { StatusColumns } from "../../widgets/status.tsx";

/** Open invocations in one status, of a service or of a handler. */
export interface Open extends StatusColumns {
  readonly name: string;
  /** The deployment that those of a handler are pinned to. */
  readonly pinned?: string;
  readonly n: Int;
}

/** What ended in the last hour, of a service or of a handler. */
export interface Pace {
  readonly name: string;
  readonly n: Int;
  readonly failed: Int;
  /** From the call to the result, in ms. */
  readonly p50: number;
  readonly p95: number;
}

/** The reference has no `extract` of the epoch; as numbers both servers have milliseconds. */
const TOOK_MS = sql`CAST(completed_at AS BIGINT) - CAST(created_at AS BIGINT)`;

/** Services, or the handlers of one. */
function groupOf(service: string | undefined): { readonly column: Sql; readonly only: Sql[] } {
  return service === undefined
    ? { column: sql`target_service_name`, only: [] }
    : { column: sql`target_handler_name`, only: [sql`target_service_name = ${service}`] };
}

/** What changes with the invocations of one service, or of any. */
const aboutOf = (service: string | undefined) => service === undefined ? undefined : { service };

/** Open invocations by service, or by handler and deployment of one service. */
export function useOpen(service?: string): Used<Open[]> {
  const { column, only } = groupOf(service);
  const pinned = service === undefined ? sql`NULL` : sql`pinned_deployment_id`;
  return useQuery<Open>(
    sql`
SELECT ${column} AS name, status, ${pinned} AS pinned, count(*) AS n FROM sys_invocation
${where([sql`status <> 'completed'`, ...only])} GROUP BY ${column}, status, pinned`,
    { everyMs: EVERY_MS.list, about: aboutOf(service) },
  );
}

/** How many ended in the last hour and how long they took. Nearest-rank percentiles, so exact. */
export function usePace(service?: string): Used<Pace[]> {
  const { column, only } = groupOf(service);
  const ended = [
    sql`status = 'completed'`,
    sql`completed_at > now() - INTERVAL '1 hour'`,
    ...only,
  ];
  return useQuery<Pace>(
    sql`
SELECT name, count(*) AS n, sum(failed) AS failed,
  min(CASE WHEN place * 2 >= total THEN ms END) AS p50,
  min(CASE WHEN place * 100 >= 95 * total THEN ms END) AS p95
FROM (SELECT ${column} AS name, ${TOOK_MS} AS ms,
    CASE WHEN completion_result = 'failure' THEN 1 ELSE 0 END AS failed,
    row_number() OVER (PARTITION BY ${column} ORDER BY ${TOOK_MS}) AS place,
    count(*) OVER (PARTITION BY ${column}) AS total
  FROM sys_invocation_status ${where(ended)}) AS timed
GROUP BY name`,
    { everyMs: EVERY_MS.overview, about: aboutOf(service) },
  );
}

/** How far back charts reach. */
export type Range = "hour" | "day" | "retention";

const SINCE: Readonly<Record<Range, readonly Sql[]>> = {
  hour: [sql`completed_at > now() - INTERVAL '1 hour'`],
  day: [sql`completed_at > now() - INTERVAL '24 hours'`],
  retention: [],
};

function endedOf(service: string, range: Range): Sql {
  const which = [sql`status = 'completed'`, sql`target_service_name = ${service}`];
  return where([...which, ...SINCE[range]]);
}

/** Upper ends of the classes of durations, in ms. What took longer is in a class of its own. */
export const CLASSES_MS: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1_000, 2_000, 5_000, 10_000, 30_000, 60_000],
  ...[300_000, 900_000, 3_600_000, 21_600_000, 86_400_000],
];

/** How many invocations are in a class of durations. */
export interface InClass {
  readonly class: Int;
  readonly n: Int;
}

/** Durations of what ended, by class. */
export function useDurations(service: string, range: Range): Used<InClass[]> {
  const whens = CLASSES_MS.map((ms, at) => sql`WHEN ms <= ${ms} THEN ${at}`);
  return useQuery<InClass>(
    sql`
SELECT CASE ${join(whens, " ")} ELSE ${CLASSES_MS.length} END AS class, count(*) AS n
FROM (SELECT ${TOOK_MS} AS ms FROM sys_invocation_status ${endedOf(service, range)}) AS timed
GROUP BY class`,
    { everyMs: EVERY_MS.overview, about: aboutOf(service) },
  );
}

/** When the oldest invocation ended whose result is still kept. */
export function useOldest(service: string, isOn: boolean): Used<{ readonly oldest?: string }[]> {
  return useQuery(
    sql`SELECT min(completed_at) AS oldest FROM sys_invocation_status ${
      endedOf(service, "retention")
    }`,
    { everyMs: EVERY_MS.overview, isOn, about: aboutOf(service) },
  );
}

/** How many ended in a part of a time. */
export interface InTime {
  readonly at: string;
  readonly n: Int;
  readonly failed: Int;
}

/** What ended, by parts of a time of `seconds` each. */
export function useThroughput(
  service: string,
  range: Range,
  seconds: number | undefined,
): Used<InTime[]> {
  // An interval is written as text, within which nothing is a literal of its own.
  const width = sql`INTERVAL ${`${seconds ?? 60} seconds`}`;
  return useQuery<InTime>(
    sql`
SELECT date_bin(${width}, completed_at, TIMESTAMP '1970-01-01T00:00:00') AS at, count(*) AS n,
  sum(CASE WHEN completion_result = 'failure' THEN 1 ELSE 0 END) AS failed
FROM sys_invocation_status ${endedOf(service, range)} GROUP BY at ORDER BY at`,
    { everyMs: EVERY_MS.overview, isOn: seconds !== undefined, about: aboutOf(service) },
  );
}
