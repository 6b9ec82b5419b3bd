import { type ColumnType, isInteger, isSpan, isText, isTime } from "../column_type.ts";
import { unsupported } from "../refusal.ts";
import { constantAs } from "./literal.ts";
import type { Value } from "./scope.ts";

/** What a type is called in CAST. */
const TYPES: Readonly<Record<string, ColumnType>> = {
  varchar: "str",
  text: "str",
  string: "str",
  char: "str",
  character: "str",
  "character varying": "str",
  int: "i64",
  integer: "i64",
  bigint: "i64",
  smallint: "i64",
  tinyint: "i64",
  int2: "i64",
  int4: "i64",
  int8: "i64",
  float: "f64",
  float4: "f64",
  float8: "f64",
  real: "f64",
  double: "f64",
  "double precision": "f64",
  decimal: "f64",
  numeric: "f64",
  bool: "bool",
  boolean: "bool",
  timestamp: "ts",
  timestamptz: "ts",
  bytea: "bin",
  interval: "interval",
};

/** CAST(value AS to). Throws a `Failure` 400 for what has no meaning here. */
export function cast(value: Value, to: string): Value {
  const type = Object.hasOwn(TYPES, to) ? TYPES[to] : undefined;
  if (!type) throw unsupported(`CAST to ${to.toUpperCase()}`);
  return { sql: castSql(value, type), type, name: value.name, notNull: false };
}

function castSql(value: Value, type: ColumnType): string {
  const constant = constantAs(type, value);
  if (constant) return constant.sql;
  if (value.type === "null" || value.type === type) return value.sql;
  switch (type) {
    case "str":
      return asText(value);
    case "i64":
    case "f64":
      return `cast(${value.sql} as ${type === "i64" ? "integer" : "real"})`;
    case "bin":
      return `cast(${asText(value)} as blob)`;
    case "bool":
      return isText(value.type) ? boolOf(value.sql) : `(${value.sql} <> 0)`;
    case "ts":
      if (isText(value.type)) return timeOf(value.sql);
      if (isTime(value.type) || isInteger(value.type)) return value.sql;
  }
  throw unsupported(`such a CAST`);
}

/** Text in the place of a time. */
export function timeOf(sql: string): string {
  return `cast(round(unixepoch(${sql}, 'subsec') * 1000) as integer)`;
}

function boolOf(sql: string): string {
  return `case lower(${sql}) when 'true' then 1 when 't' then 1 when '1' then 1 ` +
    `when 'false' then 0 when 'f' then 0 when '0' then 0 end`;
}

/** Any value as text, as it would be shown. */
export function asText({ sql, type }: Value): string {
  if (isText(type) || type === "null") return sql;
  if (isTime(type)) return `strftime('%Y-%m-%dT%H:%M:%fZ', ${sql} / 1000.0, 'unixepoch')`;
  if (isSpan(type)) return `('PT' || (${sql} / 1000.0) || 'S')`;
  if (type === "bool") return `case ${sql} when 1 then 'true' when 0 then 'false' end`;
  if (type === "key") return `coalesce(nullif(ltrim(${sql}, '0'), ''), substr(${sql}, 20))`;
  return `cast(${sql} as text)`;
}
