import type { Service } from "../../data/catalog.ts";
import { parseFilter } from "../../data/filter.ts";
import { statusIs } from "../../data/invocations.ts";
import { inState } from "../../data/objects.ts";
import { abilities } from "../../data/server.ts";
import { contains, join, type Sql, sql, where } from "../../data/sql.ts";
import type { Field } from "../../widgets/filter_line.tsx";
import { type Status, type StatusColumns, STATUSES } from "../../widgets/status.tsx";
import { inScope, type Keyed, SEARCHED_MAX } from "../keyed/statements.ts";

/** Runs that are shown. */
export const RUNS_MAX = 500;

/** A run of a workflow. */
export interface RunRow extends StatusColumns {
  readonly id: string;
  readonly service: string;
  readonly key: string;
  readonly scope?: string;
  readonly created_at: string;
  readonly completed_at?: string;
  readonly waiting_reason?: string;
}

export const FIELDS: readonly Field[] = [
  { name: "service", about: "name of the workflow" },
  { name: "key", about: "a part of its id" },
  { name: "status", about: "where the run stands", values: STATUSES },
  { name: "state", about: "a part of a value, or of the name of an entry" },
];

/** The handler that is the run: it is called once for each id. */
export function mainOf({ handlers }: Service): string {
  return handlers.find(({ ty }) => ty === "Workflow")?.name ?? "run";
}

const columns = () =>
  sql`id, target_service_name AS service, target_service_key AS key,
    ${abilities().hasLimits ? sql`scope` : sql`NULL AS scope`}, target_handler_name AS handler,
    target_service_ty AS ty, status, completion_result, completion_failure, created_at,
    completed_at`;

const reason = () => abilities().hasWaitingColumns ? sql`, waiting_reason` : sql``;

/**
 * The newest runs that match a filter line; a text without a field is a part of the id. Of the newest
 * invocations only: no index has those of workflows.
 */
export function runsOf(text: string, workflows: readonly Service[]): Sql {
  const isRun = workflows.map((service) =>
    sql`(r.service = ${service.name} AND r.handler = ${mainOf(service)})`
  );
  const found = sql`SELECT r.id, r.service, r.key, r.scope, r.status, r.completion_result,
    r.completion_failure, r.created_at, r.completed_at
    FROM (SELECT ${columns()} FROM sys_invocation ORDER BY created_at DESC
      LIMIT ${SEARCHED_MAX}) r`;
  const names = workflows.map(({ name }) => name);
  const conditions = conditionsOf(text, names);
  const all = where([sql`r.ty = 'workflow'`, sql`(${join(isRun, " OR ")})`, ...conditions]);
  return sql`${found} ${all} ORDER BY r.created_at DESC LIMIT ${RUNS_MAX}`;
}

function conditionsOf(text: string, names: readonly string[]): Sql[] {
  return parseFilter(text, FIELDS.map(({ name }) => name)).map(
    ({ field = "key", values, isNot }) => {
      const any = join(values.map((value) => conditionOf(field, value, names)), " OR ");
      return isNot ? sql`(${any}) IS NOT TRUE` : sql`(${any})`;
    },
  );
}

function conditionOf(field: string, value: string, names: readonly string[]): Sql {
  if (field === "service") return sql`r.service = ${value}`;
  if (field === "status") return statusIs(value as Status);
  // By the id alone: one id of two workflows with a state each is rare, and both are shown then.
  if (field === "state") {
    return sql`r.key IN (SELECT service_key FROM state WHERE service_name IN ${names}
      AND (${inState(value)}))`;
  }
  return contains(sql`r.key`, value);
}

/** The run with an id of an invocation. */
export function runById(id: string): Sql {
  return sql`SELECT ${columns()}${reason()} FROM sys_invocation WHERE id = ${id}`;
}

/** The run of a workflow's id, among the newest invocations. */
export function runByKey(keyed: Keyed, main: string): Sql {
  const { service, key } = keyed;
  return sql`SELECT * FROM (SELECT ${columns()} FROM sys_invocation ORDER BY created_at DESC
      LIMIT ${SEARCHED_MAX}) r
    WHERE r.service = ${service} AND r.key = ${key} AND r.handler = ${main}
    AND ${inScope(keyed, sql`r.scope`)} LIMIT 1`;
}
