import { type ColumnType, isNumber, isSpan, printType } from "../column_type.ts";
import { refused, unsupported } from "../refusal.ts";
import { asText } from "./cast.ts";
import type { Value } from "./scope.ts";

interface Args {
  readonly args: readonly Value[];
  /** `count(*)`. */
  readonly star: boolean;
  readonly distinct: boolean;
  /** The terms of an ORDER BY within the parentheses; empty: none. */
  readonly orderBy: string;
  readonly isWindow: boolean;
}

interface Aggregate {
  readonly sql: string;
  readonly type: ColumnType;
  /** What is done to the result, after FILTER and OVER. */
  readonly wrap?: (sql: string) => string;
}

/** Functions of many rows. Each may throw a `Failure` 400 for arguments that it cannot take. */
export const aggregates: Readonly<Record<string, (args: Args) => Aggregate>> = {
  count: (args) => {
    if (args.star || args.args.length === 0) return { sql: "count(*)", type: "i64" };
    return { sql: plain("count", args).sql, type: "i64" };
  },
  approx_distinct: (args) => ({
    sql: plain("count", { ...args, distinct: true }).sql,
    type: "u64",
  }),
  sum: (args) => {
    const { sql, type } = plain("sum", args);
    if (type === "u32" || type === "u64") return { sql, type: "u64" };
    return { sql, type: numeric("sum", type) };
  },
  avg: (args) => {
    const { sql, type } = plain("avg", args);
    if (numeric("avg", type) !== "dur") return { sql, type: "f64" };
    return { sql, type, wrap: (all) => `cast(${all} as integer)` };
  },
  mean: (args) => aggregates["avg"]!(args),
  min: (args) => plain("min", args),
  max: (args) => plain("max", args),
  bool_and: (args) => ({ ...plain("min", args), type: "bool" }),
  bool_or: (args) => ({ ...plain("max", args), type: "bool" }),
  first_value: (args) => picked(args, "$[0]"),
  last_value: (args) => picked(args, "$[#-1]"),
  array_agg: (args) => {
    const value = only("array_agg", args);
    const isNumbers = value.type === "u32" || value.type === "u64" || value.type === "i64";
    const item = isNumbers ? value.sql : asText(value);
    return { sql: gathered("json_group_array", item, args), type: isNumbers ? "u32s" : "strs" };
  },
  string_agg: (args) => {
    const [value, separator] = args.args;
    if (!value || !separator || args.distinct) {
      throw refused("string_agg takes a text and a separator");
    }
    const list = `${asText(value)}, ${asText(separator)}`;
    return { sql: gathered("group_concat", list, args), type: "str" };
  },
};

function plain(name: string, args: Args): Aggregate {
  const value = only(name, args);
  if (args.orderBy !== "") throw unsupported(`ORDER BY within ${name}`);
  return { sql: `${name}(${args.distinct ? "distinct " : ""}${value.sql})`, type: value.type };
}

/** The first or last of all values, in the order asked for. SQLite has it for windows only. */
function picked(args: Args, path: string): Aggregate {
  const { sql, type } = only("first_value", args);
  // JSON holds no bytes, and its numbers are exact up to 64 bits.
  const isBytes = type === "bin";
  const list = gathered("json_group_array", isBytes ? `hex(${sql})` : sql, args);
  const pick = (all: string) => isBytes ? `unhex(${all} ->> '${path}')` : `(${all} ->> '${path}')`;
  return { sql: list, type, wrap: pick };
}

function gathered(name: string, list: string, { orderBy, distinct, isWindow }: Args): string {
  if (isWindow && orderBy !== "") throw unsupported("ORDER BY within a function of a window");
  return `${name}(${distinct ? "distinct " : ""}${list}${orderBy && ` order by ${orderBy}`})`;
}

function only(name: string, { args, star }: Args): Value {
  const [value, ...more] = args;
  if (!value || star || more.length > 0) throw refused(`${name} takes one argument`);
  return value;
}

function numeric(name: string, type: ColumnType): ColumnType {
  if (isNumber(type) || type === "null") return type;
  if (isSpan(type)) return "dur";
  throw refused(`${name} takes numbers, and no ${printType(type)}`);
}
