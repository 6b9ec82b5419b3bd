import { commonType, isText } from "../column_type.ts";
import { refused, unsupported } from "../refusal.ts";
import type { Body, Query, Sort } from "../syntax/ast.ts";
import { sortSql } from "./call.ts";
import { translate } from "./expression.ts";
import type { Column, Common, Output, Scope } from "./scope.ts";
import { translateSelect } from "./select.ts";

/** A query as SQLite runs it. */
export interface Translated {
  readonly columns: readonly Output[];
  /** Its text. Asked for when the whole statement is read: it depends on which columns are used. */
  readonly sql: () => string;
}

type Kind<K extends Body["kind"]> = Extract<Body, { kind: K }>;

/** Queries within queries. SQLite has limits of its own for what they become. */
const DEPTH_MAX = 40;

export interface QueryOptions {
  /** What reads it names its columns: of those of a `*` only the ones that are read are computed. */
  readonly isDerived?: boolean;
}

/** A query. `outer`: the names around it. Throws a `Failure` for what cannot be run. */
export function translateQuery(
  query: Query,
  outer: Scope,
  options: QueryOptions = {},
): Translated {
  if (outer.depth >= DEPTH_MAX) throw refused("Cannot run the query: it is nested too deep");
  const commons = new Map(outer.commons);
  const inner = { ...outer, commons, depth: outer.depth + 1 };
  const withs = query.with.map(({ name, columns, query: common }) => {
    const { columns: outputs, sql } = translateQuery(common, {
      ...inner,
      columns: [],
      outer: undefined,
    });
    const table = outer.statement.newName("w");
    commons.set(name, { table, outputs: renamed(outputs, columns) } satisfies Common);
    return () => `${table} as (${sql()})`;
  });
  const { columns, sql } = translateBody(query, inner, options);
  const { limit, offset } = query;
  // SQLite has no OFFSET by itself; -1 is no limit.
  const end = limit === undefined && offset === undefined
    ? ""
    : ` limit ${limit ?? -1}${offset === undefined ? "" : ` offset ${offset}`}`;
  return {
    columns,
    sql: () => {
      const begin = withs.length > 0 ? `with ${withs.map((one) => one()).join(", ")} ` : "";
      return `${begin}${sql()}${end}`;
    },
  };
}

/** The body of a query, in its order. */
function translateBody(
  { body, orderBy, limit, offset }: Query,
  scope: Scope,
  { isDerived = false }: QueryOptions,
): Translated {
  switch (body.kind) {
    case "select": {
      const rowsMax = limit && limit + (offset ?? 0);
      const isWhole = limit === undefined && offset === undefined;
      return translateSelect(body, { orderBy, rowsMax, isDerived, isWhole }, scope);
    }
    case "compound":
      return ordered(translateCompound(body, scope), orderBy, scope);
    case "values":
      return ordered(translateValues(body, scope), orderBy, scope);
    case "nested":
      return ordered(translateQuery(body.query, scope), orderBy, scope);
  }
}

/** A body that cannot say its order by itself, within a query that says it. */
function ordered({ columns, sql }: Translated, sorts: readonly Sort[], scope: Scope): Translated {
  const table = scope.statement.newName("r");
  const inner = { ...scope, columns: asColumns(columns) };
  const order = orderSql(sorts, { columns, scope: inner });
  return { columns, sql: () => `select * from (${sql()}) as ${table}${order}` };
}

/** ` order by …`, or nothing. A whole number is the place of an output. */
export function orderSql(
  sorts: readonly Sort[],
  { columns, scope }: { readonly columns: readonly Output[]; readonly scope: Scope },
): string {
  if (sorts.length === 0) return "";
  const terms = sorts.map((sort) => {
    const output = ordinal(sort.expr, columns);
    if (output) {
      output.use?.();
      return sortSql(sort, { ...output, sql: output.ref });
    }
    const value = translate(sort.expr, scope);
    return sortSql(sort, { ...value, sql: notOrdinal(value.sql) });
  });
  return ` order by ${terms.join(", ")}`;
}

/** The output at a place, when that is what an expression says. Throws a `Failure` 400 beyond them. */
export function ordinal<T>(expr: Sort["expr"], outputs: readonly T[]): T | undefined {
  if (expr.kind !== "literal" || expr.literal.type !== "number") return undefined;
  const output = outputs[Number(expr.literal.value) - 1];
  if (output) return output;
  throw refused(`Cannot run the query: there is no column ${expr.literal.value}`);
}

/** A number where SQLite would take it for the place of a column. */
export function notOrdinal(sql: string): string {
  return /^[(\s]*-?\d+[)\s]*$/.test(sql) ? `(${sql} + 0)` : sql;
}

/** Outputs as names for what stands behind them, such as ORDER BY. */
export function asColumns(outputs: readonly Output[]): Column[] {
  return outputs.map(({ name, qualifier, aliases, type, notNull, ref, stored, use }) => ({
    name,
    qualifier,
    ...(aliases && { aliases }),
    type,
    notNull,
    read: () => {
      use?.();
      return ref;
    },
    ...(stored && { stored }),
  }));
}

/** Outputs under other names, from the first on. Throws a `Failure` 400 for too many names. */
export function renamed(outputs: readonly Output[], names: readonly string[]): Output[] {
  if (names.length > outputs.length) {
    throw refused(`Cannot run the query: ${names.length} names for ${outputs.length} columns`);
  }
  return outputs.map((output, i) =>
    names[i] === undefined ? output : { ...output, name: names[i] }
  );
}

/** Both sides as subqueries: SQLite allows neither parentheses nor an order in a compound. */
function translateCompound({ operator, left, right }: Kind<"compound">, scope: Scope): Translated {
  const [first, second] = [translateQuery(left, scope), translateQuery(right, scope)];
  if (first.columns.length !== second.columns.length) {
    throw refused(
      `Cannot run the query: ${operator.toUpperCase()} of different numbers of columns`,
    );
  }
  const columns = first.columns.map((column, i) => {
    const other = second.columns[i]!;
    const types = [column.type, other.type];
    const type = commonType(types);
    const isMixed = type === "key" || (type === "str" && !types.every(isText));
    if (isMixed && new Set(types.filter((one) => one !== "null")).size > 1) {
      throw unsupported(`${operator.toUpperCase()} of columns of different types`);
    }
    return { ...column, type, notNull: column.notNull && other.notNull };
  });
  const sql = () => `select * from (${first.sql()}) ${operator} select * from (${second.sql()})`;
  return { columns, sql };
}

function translateValues({ rows }: Kind<"values">, scope: Scope): Translated {
  const values = rows.map((row) => row.map((expr) => translate(expr, scope)));
  const [first = []] = values;
  if (values.some((row) => row.length !== first.length)) {
    throw refused("Cannot run the query: rows of VALUES have different lengths");
  }
  const columns = first.map((_, i): Output => ({
    name: `column${i + 1}`,
    type: commonType(values.map((row) => row[i]!.type)),
    notNull: false,
    ref: scope.statement.newName("c"),
  }));
  const names = columns.map(({ ref }, i) => `column${i + 1} as ${ref}`);
  const list = values.map((row) => `(${row.map(({ sql }) => sql).join(", ")})`);
  return { columns, sql: () => `select ${names.join(", ")} from (values ${list.join(", ")})` };
}
