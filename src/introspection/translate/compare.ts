import { commonType, isNumber, isSpan, isText, isTime, printType } from "../column_type.ts";
import { refused } from "../refusal.ts";
import type { Comparison } from "../syntax/ast.ts";
import { asText, timeOf } from "./cast.ts";
import { noteConstants } from "./constants.ts";
import { constantAs } from "./literal.ts";
import type { Column, KeyFact, Value } from "./scope.ts";
import { filterOf } from "./pushdown_filter.ts";

const SQLITE: Partial<Readonly<Record<Comparison, string>>> = {
  "is distinct from": "is not",
  "is not distinct from": "is",
};

/** Comparisons that a constant decides alone when the column never holds it. */
const OF_EQUALS: readonly Comparison[] = ["=", "<>", "is distinct from", "is not distinct from"];

/** Two values compared, each as the reference would read it next to the other. */
export function compare(operator: Comparison, first: Value, second: Value): Value {
  const [left, right] = alike(first, second);
  if (OF_EQUALS.includes(operator)) {
    noteConstants(first.column, [second]);
    noteConstants(second.column, [first]);
  }
  const facts = factsOf(operator, first, second) ?? factsOf(operator, second, first);
  const sql = `(${left.sql} ${SQLITE[operator] ?? operator} ${right.sql})`;
  const filter = operator in SQLITE
    ? undefined
    : filterOf(sql, first.column, [second]) ?? filterOf(sql, second.column, [first]);
  return {
    sql,
    type: "bool",
    name: `${first.name} ${operator === "<>" ? "!=" : operator.toUpperCase()} ${second.name}`,
    ...(facts && { facts }),
    ...(filter && { filter }),
  };
}

function factsOf(
  operator: Comparison,
  { column }: Value,
  other: Value,
): readonly KeyFact[] | undefined {
  const { constant } = other;
  if (isPositive(operator, other)) return impliedBy(column);
  if (constant?.type !== "text") return undefined;
  if (operator === "=") return oneOf(column, [constant.value]);
  return operator === "<>" ? noneOf(column, [constant.value]) : undefined;
}

/** `= TRUE` and `> 0`. */
function isPositive(operator: Comparison, { constant, name }: Value): boolean {
  return operator === "=" && name === "Boolean(true)" ||
    operator === ">" && constant?.type === "number" && constant.value === "0";
}

/** What is known of a row in which this column is true, or larger than 0: see `Table.implies`. */
function impliedBy(column: Column | undefined): readonly KeyFact[] | undefined {
  if (!column?.stored) return undefined;
  const { relation } = column.stored;
  const implied = relation.table.implies?.[column.stored.name];
  return implied && [{ column: { relation, name: implied.column }, values: [implied.value] }];
}

/** What is known of a column that has one of these values. */
export function oneOf(
  column: Column | undefined,
  values: readonly string[],
): readonly KeyFact[] | undefined {
  return column?.stored && [{ column: column.stored, values }];
}

/** What is known of a column that has none of these values: something if it has few. */
export function noneOf(
  column: Column | undefined,
  values: readonly string[],
): readonly KeyFact[] | undefined {
  if (!column?.stored) return undefined;
  const { relation, name } = column.stored;
  const all = relation.table.columns.find((one) => one.name === name)?.values;
  return all && oneOf(column, all.filter((one) => !values.includes(one)));
}

/** Both values in types that compare. Throws a `Failure` 400 when there are none. */
export function alike(first: Value, second: Value): readonly [Value, Value] {
  const left = constantAs(second.type, first) ?? first;
  const right = constantAs(first.type, second) ?? second;
  return [toward(left, right), toward(right, left)];
}

/** Several values alike: of CASE, COALESCE and the like. */
export function allAlike(values: readonly Value[]): Value[] {
  const type = commonType(values.map((value) => value.type));
  return values.map((value) => {
    const constant = constantAs(type, value);
    if (constant) return constant;
    if (type === "key" && value.type !== "key" && value.type !== "null") return asKey(value);
    return type === "str" && !isText(value.type) && value.type !== "null"
      ? { ...value, sql: asText(value), type }
      : value;
  });
}

/** `value`, in a type that compares with `other`'s. */
function toward(value: Value, other: Value): Value {
  const [from, to] = [value.type, other.type];
  if (from === to || from === "null" || to === "null") return value;
  if (isText(from)) {
    if (isText(to)) return value;
    if (isTime(to)) return { ...value, sql: timeOf(value.sql), type: to };
    if (isNumber(to)) return { ...value, sql: `cast(${value.sql} as numeric)`, type: "f64" };
    if (to === "bin") return { ...value, sql: `cast(${value.sql} as blob)`, type: to };
    if (to === "key") return { ...value, sql: `printf('%020s', ${value.sql})`, type: to };
  }
  if (isText(to) && (isTime(from) || isNumber(from) || from === "bin" || from === "key")) {
    return value;
  }
  if (isNumber(from) && to === "key") return asKey(value);
  const fits = (isNumber(from) && isNumber(to)) || (isTime(from) && isTime(to)) ||
    (isSpan(from) && isSpan(to)) || (from === "key" && isNumber(to));
  if (fits) return value;
  throw refused(`Cannot run the query: ${printType(from)} and ${printType(to)} cannot be compared`);
}

function asKey(value: Value): Value {
  return { ...value, sql: `printf('%020d', ${value.sql})`, type: "key" };
}
