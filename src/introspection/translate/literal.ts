import type { ColumnType } from "../column_type.ts";
import { cut, refused } from "../refusal.ts";
import { toSafe } from "../../storage/codec/safe_text.ts";
import type { Literal } from "../syntax/ast.ts";
import { quoteText } from "../tables/table.ts";
import { parseSpan, parseTime } from "./constant.ts";
import type { Value } from "./scope.ts";

const NULL: Value = { sql: "null", type: "null", name: "NULL" };
const I64_MAX = 2n ** 63n - 1n;
const encoder = new TextEncoder();

/** A constant of the statement. */
export function literalValue(literal: Literal): Value {
  switch (literal.type) {
    case "null":
      return NULL;
    case "bool":
      return {
        sql: literal.value ? "1" : "0",
        type: "bool",
        name: `Boolean(${literal.value})`,
        notNull: true,
      };
    case "text": {
      const { value } = literal;
      return {
        sql: quoteText(toSafe(value)),
        type: "str",
        name: `Utf8("${value}")`,
        notNull: true,
        constant: { type: "text", value },
      };
    }
    case "bytes":
      return {
        sql: bytesSql(literal.value),
        type: "bin",
        name: `Binary("${literal.value.join(",")}")`,
        notNull: true,
      };
    case "number":
      return numberValue(literal.value);
  }
}

function numberValue(value: string): Value {
  const constant = { type: "number", value } as const;
  if (!/^\d+$/.test(value)) {
    const name = `Float64(${Number(value)})`;
    return { sql: floatSql(Number(value)), type: "f64", name, notNull: true, constant };
  }
  const whole = BigInt(value);
  if (whole <= I64_MAX) {
    const sql = whole.toString();
    return { sql, type: "i64", name: `Int64(${whole})`, notNull: true, constant };
  }
  if (whole >= 2n ** 64n) throw refused(`Cannot run the query: ${cut(value)} is too large`);
  return {
    sql: keySql(whole.toString()),
    type: "key",
    name: `UInt64(${whole})`,
    notNull: true,
    constant,
  };
}

/** Bytes as SQL. */
export function bytesSql(bytes: Iterable<number>): string {
  return `x'${[...bytes].map((one) => one.toString(16).padStart(2, "0")).join("")}'`;
}

/** SQLite reads a number without a point as an integer. */
function floatSql(value: number): string {
  if (!Number.isFinite(value)) throw refused("Cannot run the query: a number is too large");
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** Digits of an unsigned integer as the type `key` has them. */
function keySql(digits: string): string {
  return quoteText(digits.padStart(20, "0"));
}

/**
 * A constant text or number in the place of another type, where the reference would read it as
 * such: `created_at > '2026-11-20'`. Undefined: it is no constant, or stays as it is. Throws a
 * `Failure` 400 when it cannot be read.
 */
export function constantAs(type: ColumnType, { constant, ...value }: Value): Value | undefined {
  if (!constant) return undefined;
  const { value: text } = constant;
  const as = (sql: string): Value => ({ ...value, sql, type });
  if (type === "key") return as(keySql(readKey(text)));
  if (constant.type === "number") return undefined;
  switch (type) {
    case "ts":
    case "now":
      return as(String(parseTime(text)));
    case "dur":
    case "interval":
      return as(String(parseSpan(text)));
    case "bin":
      return as(bytesSql(encoder.encode(text)));
    case "u32":
    case "u64":
    case "i64":
    case "f64":
      return as(readNumber(text));
    case "bool":
      return as(readBool(text) ? "1" : "0");
    default:
      return undefined;
  }
}

function readKey(text: string): string {
  if (/^\d{1,20}$/.test(text)) return text;
  // Out of its range, which no key is.
  if (/^\d+(?:\.\d+)?$/.test(text)) return "9".repeat(20);
  throw notA("number", text);
}

function readNumber(text: string): string {
  if (/^[+-]?(?:\d{1,18}|\d{1,300}\.\d{1,300})$/.test(text.trim())) return `(${text.trim()})`;
  throw notA("number", text);
}

function readBool(text: string): boolean {
  const lower = text.trim().toLowerCase();
  if (lower === "true" || lower === "t" || lower === "1") return true;
  if (lower === "false" || lower === "f" || lower === "0") return false;
  throw notA("boolean", text);
}

function notA(what: string, text: string) {
  return refused(`Cannot run the query: '${cut(text)}' is not a ${what}`);
}
