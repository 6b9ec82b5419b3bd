import { isText, printType } from "../column_type.ts";
import { refused } from "../refusal.ts";
import { toSafe } from "../../storage/codec/safe_text.ts";
import type { Arithmetic, Expr } from "../syntax/ast.ts";
import { quoteText } from "../tables/table.ts";
import { arithmetic } from "./arithmetic.ts";
import { call } from "./call.ts";
import { asText, cast } from "./cast.ts";
import { allAlike, compare, noneOf, oneOf } from "./compare.ts";
import { noteConstants } from "./constants.ts";
import { parseInterval, parseTime } from "./constant.ts";
import { jsonMember } from "./json.ts";
import { literalValue } from "./literal.ts";
import { translateQuery } from "./query.ts";
import { findColumn, type KeyFact, type Scope, type Value } from "./scope.ts";
import { filterOf, filterOfAll, filterOfEither } from "./pushdown_filter.ts";

type Kind<K extends Expr["kind"]> = Extract<Expr, { kind: K }>;

/** Copies within copies grow fast. No expression that a person writes is as long. */
const SQL_CHARS_MAX = 1024 * 1024;

/** An expression as SQLite computes it. Throws a `Failure` for what cannot be. */
export function translate(expr: Expr, scope: Scope): Value {
  const value = translateAny(expr, scope);
  if (value.sql.length <= SQL_CHARS_MAX && value.name.length <= SQL_CHARS_MAX) return value;
  throw refused("Cannot run the query: an expression is too complex");
}

function translateAny(expr: Expr, scope: Scope): Value {
  switch (expr.kind) {
    case "literal":
      return literalValue(expr.literal);
    case "interval":
      return {
        sql: `(${parseInterval(expr.text)})`,
        type: "interval",
        name: `Interval("${expr.text}")`,
        notNull: true,
        isSame: true,
      };
    case "timestamp": {
      const name = `Utf8("${expr.text}")`;
      return { sql: `(${parseTime(expr.text)})`, type: "now", name, notNull: true, isSame: true };
    }
    case "column":
      return columnValue(expr.path, scope);
    case "unary":
      return unary(expr, scope);
    case "binary":
      return binary(expr, scope);
    case "cast":
      return cast(translate(expr.of, scope), expr.to);
    case "subscript":
      return subscript(expr, scope);
    case "call":
      return call(expr, scope);
    case "case":
      return caseOf(expr, scope);
    default:
      return predicate(expr, scope);
  }
}

function predicate(
  expr: Kind<"is" | "like" | "in" | "inQuery" | "between" | "exists" | "scalar">,
  scope: Scope,
): Value {
  switch (expr.kind) {
    case "is": {
      const { sql: value, name, column } = translate(expr.of, scope);
      const words = `is${expr.not ? " not" : ""} ${expr.what}`;
      const shown = `${name} ${words.toUpperCase()}`;
      const sql = `(${value} ${words})`;
      const filter = (expr.what === "null") === expr.not ? filterOf(sql, column, []) : undefined;
      return { sql, type: "bool", name: shown, notNull: true, ...(filter && { filter }) };
    }
    case "like":
      return like(expr, scope);
    case "in":
      return inList(expr, scope);
    case "inQuery":
      return inQuery(expr, scope);
    case "between":
      return between(expr, scope);
    case "exists": {
      const { sql } = translateQuery(expr.query, scope);
      return { sql: `exists (${sql()})`, type: "bool", name: "EXISTS", notNull: true };
    }
    case "scalar": {
      const { sql, columns: [column, ...more] } = translateQuery(expr.query, scope);
      if (!column || more.length > 0) throw refused("Cannot run the query: one column is expected");
      return { sql: `(${sql()})`, type: column.type, name: "(<subquery>)" };
    }
  }
}

function columnValue(path: readonly string[], scope: Scope): Value {
  const column = findColumn(scope, path);
  const { qualifier, name, type, notNull } = column;
  const shown = qualifier === undefined ? name : `${qualifier}.${name}`;
  return { sql: column.read(), type, name: shown, notNull, column };
}

function unary({ operator, of }: Kind<"unary">, scope: Scope): Value {
  const value = translate(of, scope);
  if (operator === "not") {
    return { sql: `(not ${value.sql})`, type: "bool", name: `NOT ${value.name}` };
  }
  if (isText(value.type)) throw refused(`Cannot run the query: there is no -${value.type}`);
  if (operator === "+") return { ...value, sql: `(${value.sql})` };
  if (value.type === "key") return negativeKey(value);
  const name = value.constant ? value.name.replace("(", "(-") : `(- ${value.name})`;
  const type = value.type === "u32" || value.type === "u64" ? "i64" : value.type;
  return { sql: `(-${value.sql})`, type, name };
}

/** The least integer is written as one that is too large for its type. Others have no negative. */
function negativeKey({ constant }: Value): Value {
  if (constant?.value !== String(2n ** 63n)) {
    throw refused("Cannot run the query: there is no -UInt64");
  }
  const sql = `(-${constant.value})`;
  return { sql, type: "i64", name: `Int64(-${constant.value})`, notNull: true };
}

function binary({ operator, left, right }: Kind<"binary">, scope: Scope): Value {
  if (operator === "and" || operator === "or") return logic(operator, { left, right }, scope);
  const [first, second] = [translate(left, scope), translate(right, scope)];
  switch (operator) {
    case "||": {
      const sql = `(${asText(first)} || ${asText(second)})`;
      return { sql, type: "str", name: `${first.name} || ${second.name}` };
    }
    case "->":
    case "->>":
      return jsonMember(first, second, operator);
    case "=":
    case "<>":
    case "<":
    case "<=":
    case ">":
    case ">=":
    case "is distinct from":
    case "is not distinct from":
      return compare(operator, first, second);
    default:
      return arithmetic(operator satisfies Arithmetic, first, second);
  }
}

/** Long lists of OR are deep trees: they are walked, not recursed into. */
function logic(
  operator: "and" | "or",
  { left, right }: Pick<Kind<"binary">, "left" | "right">,
  scope: Scope,
): Value {
  const parts = [right];
  let first = left;
  while (first.kind === "binary" && first.operator === operator) {
    parts.push(first.right);
    first = first.left;
  }
  parts.push(first);
  const values = parts.reverse().map((part) => {
    const value = translate(part, scope);
    if (!isText(value.type)) return value;
    throw refused(`Cannot run the query: ${printType(value.type)} is no condition`);
  });
  const facts = operator === "and"
    ? values.flatMap((value) => value.facts ?? [])
    : either(values.map((value) => value.facts ?? []));
  const sql = `(${values.map((value) => value.sql).join(` ${operator} `)})`;
  const filter = operator === "and" ? filterOfAll(values) : filterOfEither(values, sql);
  return {
    sql,
    type: "bool",
    name: values.map(({ name }) => name).join(` ${operator.toUpperCase()} `),
    facts,
    ...(filter && { filter }),
  };
}

/** Columns that every alternative compares with constants have one of all of them. */
function either([first = [], ...others]: readonly (readonly KeyFact[])[]): KeyFact[] {
  return first.flatMap(({ column, values }) => {
    const same = others.map((facts) =>
      facts.find((fact) =>
        fact.column.relation === column.relation && fact.column.name === column.name
      )
    );
    if (same.includes(undefined)) return [];
    return [{ column, values: [...values, ...same.flatMap((fact) => fact?.values ?? [])] }];
  });
}

function like(expr: Kind<"like">, scope: Scope): Value {
  const [value, pattern] = [translate(expr.of, scope), translate(expr.pattern, scope)];
  const lower = (sql: string) => expr.ignoreCase ? `lower(${sql})` : sql;
  const text = value.type === "bin" ? `cast(${value.sql} as text)` : asText(value);
  // Without ESCAPE there is a backslash, as the reference has it.
  const escape = quoteText(toSafe(expr.escape ?? "\\"));
  const words = `${expr.not ? "not " : ""}like`;
  return {
    sql: `(${lower(text)} ${words} ${lower(asText(pattern))} escape ${escape})`,
    type: "bool",
    name: `${value.name} ${
      expr.ignoreCase ? words.replace("like", "ilike") : words
    } ${pattern.name}`,
  };
}

function inList({ not, of, list }: Kind<"in">, scope: Scope): Value {
  const value = translate(of, scope);
  const members = list.map((one) => translate(one, scope));
  const [same = value, ...others] = allAlike([value, ...members]);
  noteConstants(value.column, members);
  const constants = members.flatMap(({ constant }) =>
    constant?.type === "text" ? [constant.value] : []
  );
  const facts = constants.length === members.length
    ? (not ? noneOf : oneOf)(value.column, constants)
    : undefined;
  // A binary column is compared with text as it is: see `constantAs`.
  const sql = `(${same.sql} ${not ? "not " : ""}in (${others.map((one) => one.sql).join(", ")}))`;
  const filter = filterOf(sql, value.column, members);
  return {
    sql,
    type: "bool",
    name: `${value.name} ${not ? "NOT " : ""}IN (${members.map(({ name }) => name).join(", ")})`,
    ...(facts && { facts }),
    ...(filter && { filter }),
  };
}

function inQuery({ not, of, query }: Kind<"inQuery">, scope: Scope): Value {
  const value = translate(of, scope);
  const { sql, columns: [column, ...more] } = translateQuery(query, scope);
  if (!column || more.length > 0) throw refused("Cannot run the query: one column is expected");
  const words = `${not ? "not " : ""}in`;
  return {
    sql: `(${value.sql} ${words} (${sql()}))`,
    type: "bool",
    name: `${value.name} ${words.toUpperCase()} (<subquery>)`,
  };
}

function between(expr: Kind<"between">, scope: Scope): Value {
  const [value, low, high] = [expr.of, expr.low, expr.high].map((one) => translate(one, scope));
  const [from, to] = [compare(">=", value!, low!), compare("<=", value!, high!)];
  return {
    sql: `(${expr.not ? "not " : ""}(${from.sql} and ${to.sql}))`,
    type: "bool",
    name: `${value!.name} ${expr.not ? "NOT " : ""}BETWEEN ${low!.name} AND ${high!.name}`,
    ...(!expr.not && { filter: filterOfAll([from, to]) }),
  };
}

function subscript({ of, index }: Kind<"subscript">, scope: Scope): Value {
  const [list, place] = [translate(of, scope), translate(index, scope)];
  const type = list.type === "u32s" ? "u32" : list.type === "strs" ? "str" : undefined;
  if (!type) throw refused(`Cannot run the query: ${printType(list.type)} has no members`);
  const sql = `(${list.sql} ->> (cast(${place.sql} as integer) - 1))`;
  return { sql, type, name: `${list.name}[${place.name}]` };
}

function caseOf({ of, whens, otherwise }: Kind<"case">, scope: Scope): Value {
  const tested = of && translate(of, scope);
  const conditions = whens.map(({ when }) => {
    const value = translate(when, scope);
    return { sql: tested ? compare("=", tested, value).sql : value.sql, name: value.name };
  });
  const ends = whens.map(({ then }) => then);
  const results = allAlike(
    [...ends, ...otherwise ? [otherwise] : []].map((end) => translate(end, scope)),
  );
  const parts = conditions.map(({ sql }, i) => `when ${sql} then ${results[i]!.sql}`);
  const names = conditions.map(({ name }, i) => `WHEN ${name} THEN ${results[i]!.name}`);
  const last = otherwise && results.at(-1);
  return {
    sql: `case ${parts.join(" ")}${last ? ` else ${last.sql}` : ""} end`,
    type: results.find(({ type }) => type !== "null")?.type ?? "null",
    name: `CASE ${tested ? `${tested.name} ` : ""}${names.join(" ")}${
      last ? ` ELSE ${last.name}` : ""
    } END`,
  };
}
