import { unsupported } from "../refusal.ts";
import type { Call, Sort, Window } from "../syntax/ast.ts";
import { aggregates } from "./aggregates.ts";
import { translate } from "./expression.ts";
import { functions } from "./functions.ts";
import { findColumn, type Scope, type Value } from "./scope.ts";
import { windows } from "./windows.ts";

/** A function that is called. Throws a `Failure` 400 for one that we do not have. */
export function call(expr: Call, scope: Scope): Value {
  const { name } = expr;
  const length = name === "length" ? storedLength(expr, scope) : undefined;
  if (length) return length;
  const args = expr.args.map((arg) => translate(arg, scope));
  if (expr.over && Object.hasOwn(windows, name)) return overWindow(expr, args, scope);
  if (Object.hasOwn(aggregates, name)) return aggregate(expr, args, scope);
  const scalar = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (!scalar) throw unsupported(`the function ${name}`);
  if (expr.over || expr.filter || expr.distinct || expr.star || expr.orderBy.length > 0) {
    throw unsupported(`${name} as an aggregate`);
  }
  const value = scalar(args, scope.statement);
  return { ...value, name: `${name}(${args.map((arg) => arg.name).join(",")})` };
}

/** The length of bytes that another column of their row knows already: they need not be read. */
function storedLength({ args: [arg, ...more] }: Call, scope: Scope): Value | undefined {
  if (arg?.kind !== "column" || more.length > 0) return undefined;
  const { stored, qualifier, name } = findColumn(scope, arg.path);
  if (!stored || stored.isDerived) return undefined;
  const { table: { columns }, used, refs, name: own } = stored.relation;
  const length = columns.find((one) => one.name === stored.name)?.length;
  if (length === undefined) return undefined;
  used.add(length);
  const shown = qualifier === undefined ? name : `${qualifier}.${name}`;
  return { sql: `${own}.${refs.get(length)}`, type: "u64", name: `length(${shown})` };
}

function aggregate(expr: Call, args: readonly Value[], scope: Scope): Value {
  const { name, star, distinct } = expr;
  const make = aggregates[name]!;
  const orderBy = sortsSql(expr.orderBy, scope);
  const value = make({ args, star, distinct, orderBy, isWindow: expr.over !== undefined });
  const filter = expr.filter && translate(expr.filter, scope);
  const over = expr.over && windowSql(expr.over, scope);
  const shown = star ? "*" : args.map((arg) => arg.name).join(",");
  const wrap = value.wrap ?? ((sql: string) => sql);
  return {
    sql: wrap(
      `${value.sql}${filter ? ` filter (where ${filter.sql})` : ""}${
        over ? ` over (${over})` : ""
      }`,
    ),
    type: value.type,
    name: `${name}(${distinct ? "DISTINCT " : ""}${shown})${
      filter ? ` FILTER (WHERE ${filter.name})` : ""
    }${orderBy && ` ORDER BY [${sortNames(expr.orderBy, scope)}]`}`,
    notNull: name === "count",
  };
}

function overWindow(expr: Call, args: readonly Value[], scope: Scope): Value {
  const { name, over } = expr;
  if (!over || expr.filter || expr.distinct || expr.orderBy.length > 0) {
    throw unsupported(`${name} with FILTER, DISTINCT or ORDER BY over a window`);
  }
  const { type, sql } = windows[name]!(args);
  const shown = args.map((arg) => arg.name).join(",");
  return { sql: `${sql} over (${windowSql(over, scope)})`, type, name: `${name}(${shown})` };
}

function windowSql({ partitionBy, orderBy, frame }: Window, scope: Scope): string {
  const groups = partitionBy.map((one) => translate(one, scope).sql);
  return [
    groups.length > 0 ? `partition by ${groups.join(", ")}` : "",
    orderBy.length > 0 ? `order by ${sortsSql(orderBy, scope)}` : "",
    frame ?? "",
  ].filter((part) => part !== "").join(" ");
}

function sortNames(sorts: readonly Sort[], scope: Scope): string {
  return sorts.map((sort) => {
    const direction = sort.descending ? "DESC" : "ASC";
    const place = sort.nulls ?? (sort.descending ? "first" : "last");
    return `${translate(sort.expr, scope).name} ${direction} NULLS ${place.toUpperCase()}`;
  }).join(", ");
}

function sortsSql(sorts: readonly Sort[], scope: Scope): string {
  return sorts.map((sort) => sortSql(sort, translate(sort.expr, scope))).join(", ");
}

/**
 * One term of an ORDER BY. Nulls are greater than everything else, as in the reference, where SQLite
 * takes them for less. It is not said of what is never null: an index could not give the order.
 */
export function sortSql({ descending, nulls }: Sort, { sql, notNull }: Value): string {
  const place = nulls ?? (descending ? "first" : "last");
  return `${sql}${descending ? " desc" : ""}${notNull ? "" : ` nulls ${place}`}`;
}
