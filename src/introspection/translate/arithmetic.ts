import { type ColumnType, isNumber, isSpan, isTime, printType } from "../column_type.ts";
import { refused } from "../refusal.ts";
import type { Arithmetic } from "../syntax/ast.ts";
import { constantAs } from "./literal.ts";
import type { Value } from "./scope.ts";
import { isFixed } from "./pushdown_filter.ts";

/** `left operator right`. Throws a `Failure` 400 for types that have no such operation. */
export function arithmetic(operator: Arithmetic, first: Value, second: Value): Value {
  // A text beside a number is one, as in `'1' + 1`.
  const left = isNumber(second.type) ? constantAs(second.type, first) ?? first : first;
  const right = isNumber(first.type) ? constantAs(first.type, second) ?? second : second;
  const type = typeOf(operator, left.type, right.type);
  const name = `${first.name} ${operator} ${second.name}`;
  if (!type) {
    const types = `${printType(left.type)} ${operator} ${printType(right.type)}`;
    throw refused(`Cannot run the query: there is no ${types}`);
  }
  const sql = `(${left.sql} ${operator} ${right.sql})`;
  const isSame = isFixed(left) && isFixed(right);
  return { sql: isSpan(type) && operator !== "+" ? whole(sql) : sql, type, name, isSame };
}

/** Spans are whole milliseconds, also after a division. */
function whole(sql: string): string {
  return `cast(${sql} as integer)`;
}

function typeOf(
  operator: Arithmetic,
  left: ColumnType,
  right: ColumnType,
): ColumnType | undefined {
  if (left === "null") return right;
  if (right === "null") return left;
  if (isNumber(left) && isNumber(right)) {
    if (left === "f64" || right === "f64") return "f64";
    return left === "i64" || right === "i64" || operator === "-" ? "i64" : "u64";
  }
  if (operator === "+" || operator === "-") {
    if (isTime(left) && isTime(right)) return operator === "-" ? "dur" : undefined;
    if (isTime(left) && isSpan(right)) return left;
    if (isSpan(left) && isTime(right)) return operator === "+" ? right : undefined;
    if (isSpan(left) && isSpan(right)) return "dur";
  }
  if (operator === "*" || operator === "/") {
    if (isSpan(left) && isNumber(right)) return "dur";
    if (isNumber(left) && isSpan(right) && operator === "*") return "dur";
  }
  return undefined;
}
