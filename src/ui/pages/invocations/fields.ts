import { parseFilter, shortDurationMs, type Term } from "../../data/filter.ts";
import { statusIs } from "../../data/invocations.ts";
import { contains, join, name, type Sql, sql } from "../../data/sql.ts";
import type { Field } from "../../widgets/filter_line.tsx";
import { type Status, STATUSES } from "../../widgets/status.tsx";

/** A condition, or why the value means nothing. */
type Compiled = Sql | string;
type Compile = (value: string, now: number) => Compiled;

const equals = (column: string): Compile => (value) => sql`${name(column)} = ${value}`;
const matches = (column: string): Compile => (value) => contains(name(column), value);

const status: Compile = (value) =>
  STATUSES.includes(value as Status) ? statusIs(value as Status) : "no status";

const since = (column: Sql): Compile => (value, now) => {
  const [, sign, length = ""] = /^([<>]?)(.+)$/.exec(value) ?? [];
  const ms = shortDurationMs(length);
  if (ms === undefined) return "a time such as >10m";
  const moment = new Date(now - ms);
  return sign === "<" ? sql`${column} > ${moment}` : sql`${column} < ${moment}`;
};

const retries: Compile = (value) => {
  const [, sign = "", digits = ""] = /^([<>]?)(\d{1,9})$/.exec(value) ?? [];
  if (digits === "") return "a number such as >5";
  const count = Number(digits);
  if (sign === "") return sql`retry_count = ${count}`;
  return sign === ">" ? sql`retry_count > ${count}` : sql`retry_count < ${count}`;
};

const error: Compile = (value) =>
  sql`(${contains(sql`last_failure`, value)} OR ${contains(sql`completion_failure`, value)})`;

const id: Compile = (value) =>
  /^inv_1[0-9A-Za-z]+$/.test(value) ? sql`id = ${value}` : "no id of an invocation";

interface Filtering extends Field {
  readonly compile: Compile;
}

const CALLERS = ["ingress", "service", "subscription", "restart_as_new"];

const FILTERS: readonly Filtering[] = [
  { name: "status", about: "where it stands", values: STATUSES, compile: status },
  { name: "service", about: "name of the service", compile: equals("target_service_name") },
  { name: "handler", about: "name of the handler", compile: equals("target_handler_name") },
  {
    name: "key",
    about: "key of the object or id of the workflow",
    compile: equals("target_service_key"),
  },
  { name: "error", about: "a part of its last failure", compile: error },
  {
    name: "age",
    about: "since it was accepted: >10m, <1h",
    compile: since(sql`created_at`),
  },
  {
    name: "ended",
    about: "since it was completed: >10m, <1h",
    compile: since(sql`completed_at`),
  },
  { name: "id", about: "id of the invocation", compile: id },
  { name: "retries", about: "attempts: >5", compile: retries },
  { name: "deployment", about: "the one it is bound to", compile: equals("pinned_deployment_id") },
  { name: "code", about: "such as RT0007", compile: equals("last_failure_error_code") },
  { name: "by", about: "what made it", values: CALLERS, compile: equals("invoked_by") },
  {
    name: "caller",
    about: "id of the invocation that called it",
    compile: equals("invoked_by_id"),
  },
  {
    name: "subscription",
    about: "id of the one that made it",
    compile: equals("invoked_by_subscription_id"),
  },
  { name: "idempotency", about: "its idempotency key", compile: equals("idempotency_key") },
];

/** The fields of the filter line. */
export const FIELDS: readonly Field[] = FILTERS;
export const FIELD_NAMES = FILTERS.map(({ name }) => name);

/** A text without a field: part of the target or of a failure, or an id. */
function free(value: string): Sql {
  if (typeof id(value, 0) !== "string") return id(value, 0) as Sql;
  return sql`(${matches("target")(value, 0) as Sql} OR ${error(value, 0) as Sql})`;
}

export interface Filter {
  readonly conditions: readonly Sql[];
  /** Terms that mean nothing, and are left out: why, by their source. */
  readonly problems: ReadonlyMap<string, string>;
}

/**
 * Conditions of SQL for a filter line. `without`: a field that is left out, for counts that show what
 * other values would find. `now`: in ms since the epoch.
 */
export function compileFilter(text: string, now: number, without?: string): Filter {
  const problems = new Map<string, string>();
  const conditions = parseFilter(text, FIELD_NAMES)
    .filter(({ field }) => field === undefined || field !== without)
    .flatMap((term): Sql[] => {
      const compiled = compileTerm(term, now);
      if (typeof compiled !== "string") return [compiled];
      problems.set(term.source, compiled);
      return [];
    });
  return { conditions, problems };
}

function compileTerm({ field, values, isNot }: Term, now: number): Compiled {
  const compile = FILTERS.find(({ name }) => name === field)?.compile ?? free;
  const parts: Sql[] = [];
  for (const value of values) {
    const compiled = compile(value, now);
    if (typeof compiled === "string") return compiled;
    parts.push(compiled);
  }
  const any = sql`(${join(parts, " OR ")})`;
  // A column that is null does not have the value, either.
  return isNot ? sql`${any} IS NOT TRUE` : any;
}
