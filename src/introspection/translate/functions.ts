import { type ColumnType, isText, printType } from "../column_type.ts";
import { refused } from "../refusal.ts";
import { asText } from "./cast.ts";
import { alike, allAlike } from "./compare.ts";
import { jsonPath } from "./json.ts";
import type { StatementScope, Value } from "./scope.ts";
import { timeFunctions } from "./time_functions.ts";

/** What a function makes of its arguments. Its name is added by who calls it. */
export type Make = (args: readonly Value[], statement: StatementScope) => Omit<Value, "name">;

/** `count` arguments: a number, or the least and the most. Throws a `Failure` 400. */
export function expectArgs(name: string, args: readonly Value[], min: number, max = min): void {
  if (args.length >= min && args.length <= max) return;
  throw refused(`${name} takes ${min === max ? min : `${min} to ${max}`} arguments`);
}

/** All arguments as texts; the same function in SQLite. */
const ofTexts = (name: string, type: ColumnType, [min, max = min]: readonly number[]): Make =>
(
  args,
) => {
  expectArgs(name, args, min!, max);
  return { sql: `${name}(${args.map(asText).join(", ")})`, type };
};

const ofNumbers = (name: string, type: ColumnType, [min, max = min]: readonly number[]): Make =>
(
  args,
) => {
  expectArgs(name, args, min!, max);
  return { sql: `${name}(${args.map(({ sql }) => sql).join(", ")})`, type };
};

const length: Make = (args) => {
  expectArgs("length", args, 1);
  const [value] = args;
  return { sql: `length(${value!.type === "bin" ? value!.sql : asText(value!)})`, type: "u64" };
};

const octetLength: Make = (args) => {
  expectArgs("octet_length", args, 1);
  const [value] = args;
  return { sql: `length(cast(${asText(value!)} as blob))`, type: "u64" };
};

/** Text from a place on, counted from 1. */
const substr: Make = (args) => {
  expectArgs("substr", args, 2, 3);
  const [value, ...places] = args;
  return {
    sql: `substr(${[asText(value!), ...places.map(({ sql }) => sql)].join(", ")})`,
    type: "str",
  };
};

const strpos: Make = (args) => {
  expectArgs("strpos", args, 2);
  return { sql: `instr(${args.map(asText).join(", ")})`, type: "i64" };
};

const concat: Make = (args) => {
  if (args.length === 0) throw refused("concat takes arguments");
  return {
    sql: `(${args.map((arg) => `coalesce(${asText(arg)}, '')`).join(" || ")})`,
    type: "str",
  };
};

/** Whether a text begins with, ends with or has another one. */
const has = (name: string, test: (text: string, part: string) => string): Make => (args) => {
  expectArgs(name, args, 2);
  return { sql: `(${test(asText(args[0]!), asText(args[1]!))})`, type: "bool" };
};

const coalesce: Make = (args) => {
  if (args.length === 0) throw refused("coalesce takes arguments");
  const values = allAlike(args);
  const type = values.find((value) => value.type !== "null")?.type ?? "null";
  if (values.length === 1) return { sql: values[0]!.sql, type };
  return { sql: `coalesce(${values.map(({ sql }) => sql).join(", ")})`, type };
};

const nullif: Make = (args) => {
  expectArgs("nullif", args, 2);
  const [first, second] = alike(args[0]!, args[1]!);
  return { sql: `nullif(${first.sql}, ${second.sql})`, type: first.type };
};

const ARGS_MAX = 16;

/** Nulls do not count, unlike in SQLite: each value stands with the others as its replacements. */
const extreme = (name: string, sqlite: "max" | "min"): Make => (args) => {
  expectArgs(name, args, 1, ARGS_MAX);
  const values = allAlike(args);
  const type = values.find((value) => value.type !== "null")?.type ?? "null";
  const sqls = values.map(({ sql }) => sql);
  if (sqls.length === 1) return { sql: sqls[0]!, type };
  const filled = sqls.map((_, i) =>
    `coalesce(${[...sqls.slice(i), ...sqls.slice(0, i)].join(", ")})`
  );
  return { sql: `${sqlite}(${filled.join(", ")})`, type };
};

/** Towards minus or plus infinity, or to the nearest. Integers stay what they are. */
const rounded = (name: string): Make => (args) => {
  expectArgs(name, args, 1);
  return { sql: `cast(${name}(${args[0]!.sql}) as real)`, type: "f64" };
};

const abs: Make = (args) => {
  expectArgs("abs", args, 1);
  return { sql: `abs(${args[0]!.sql})`, type: args[0]!.type };
};

const list = ([value]: readonly Value[]): Value => {
  if (value && (value.type === "u32s" || value.type === "strs")) return value;
  throw refused(`A list is expected, and no ${printType(value?.type ?? "null")}`);
};

const listLength: Make = (args) => ({ sql: `json_array_length(${list(args).sql})`, type: "u64" });

const listHas: Make = (args) => {
  expectArgs("array_has", args, 2);
  const { sql } = list(args);
  const member = args[1]!.sql;
  return {
    sql: `case when ${sql} is not null then ` +
      `exists (select 1 from json_each(${sql}) as e where e.value = ${member}) end`,
    type: "bool",
  };
};

const jsonGet = (name: string, type: ColumnType): Make => (args) => jsonPath(args, { name, type });

const jsonLength: Make = (args) => {
  expectArgs("json_length", args, 1);
  const sql = args[0]!.sql;
  const counted = `select count(*) from json_each(${sql})`;
  return { sql: `case when json_valid(${sql}) then (${counted}) end`, type: "u64" };
};

const encode: Make = (args) => {
  expectArgs("encode", args, 2);
  if (args[1]!.constant?.value !== "hex") throw refused("encode knows 'hex' only");
  const [value] = args;
  return { sql: `lower(hex(${isText(value!.type) ? asText(value!) : value!.sql}))`, type: "str" };
};

/** Functions of one row: what the clients of the reference call, and their near relatives. */
export const functions: Readonly<Record<string, Make>> = {
  ...timeFunctions,
  lower: ofTexts("lower", "str", [1]),
  upper: ofTexts("upper", "str", [1]),
  trim: ofTexts("trim", "str", [1, 2]),
  btrim: ofTexts("trim", "str", [1, 2]),
  ltrim: ofTexts("ltrim", "str", [1, 2]),
  rtrim: ofTexts("rtrim", "str", [1, 2]),
  replace: ofTexts("replace", "str", [3]),
  length,
  char_length: length,
  character_length: length,
  octet_length: octetLength,
  substr,
  substring: substr,
  left: (args) => {
    expectArgs("left", args, 2);
    return { sql: `substr(${asText(args[0]!)}, 1, ${args[1]!.sql})`, type: "str" };
  },
  right: (args) => {
    expectArgs("right", args, 2);
    const [text, count] = [asText(args[0]!), args[1]!.sql];
    return { sql: `substr(${text}, -(${count}), ${count})`, type: "str" };
  },
  strpos,
  instr: strpos,
  position: strpos,
  concat,
  starts_with: has("starts_with", (text, part) => `substr(${text}, 1, length(${part})) = ${part}`),
  ends_with: has(
    "ends_with",
    (text, part) => `${part} = '' or substr(${text}, -length(${part})) = ${part}`,
  ),
  contains: has("contains", (text, part) => `instr(${text}, ${part}) > 0`),
  encode,
  coalesce,
  nvl: coalesce,
  ifnull: coalesce,
  nullif,
  greatest: extreme("greatest", "max"),
  least: extreme("least", "min"),
  abs,
  round: ofNumbers("round", "f64", [1, 2]),
  floor: rounded("floor"),
  ceil: rounded("ceil"),
  sqrt: ofNumbers("sqrt", "f64", [1]),
  power: ofNumbers("power", "f64", [2]),
  pow: ofNumbers("power", "f64", [2]),
  array_length: listLength,
  cardinality: listLength,
  array_has: listHas,
  array_contains: listHas,
  list_contains: listHas,
  json_get: jsonGet("json_get", "str"),
  json_get_json: jsonGet("json_get_json", "str"),
  json_get_str: jsonGet("json_get_str", "str"),
  json_as_text: jsonGet("json_as_text", "str"),
  json_get_int: jsonGet("json_get_int", "i64"),
  json_get_float: jsonGet("json_get_float", "f64"),
  json_get_bool: jsonGet("json_get_bool", "bool"),
  json_length: jsonLength,
  version: (_args, { version }) => ({ sql: `'perdure ${version}'`, type: "str", notNull: true }),
  arrow_typeof: (args) => {
    expectArgs("arrow_typeof", args, 1);
    return { sql: `'${printType(args[0]!.type)}'`, type: "str", notNull: true };
  },
};
