/**
 * What a column holds, and so how it is compared, printed and sent. In the database:
 *
 * - `str`: text in the spelling of `storage/codec/safe_text.ts`. `raw`: text from a user's bytes,
 *   null where they are no UTF-8. `future`: JSON of a tree of what is awaited, in our own words.
 * - `bool`: 0 or 1. `u32`, `u64`, `i64`: an integer. `f64`: a number.
 * - `key`: an unsigned 64-bit integer as text of 20 digits, since SQLite's integers are signed.
 * - `ts`: milliseconds since the epoch. `now`: the same, shown with nanoseconds and without a zone.
 * - `dur`, `interval`: milliseconds. `bin`: bytes. `u32s`, `strs`: a list as a JSON array.
 */
export type ColumnType =
  | "str"
  | "raw"
  | "future"
  | "bool"
  | "u32"
  | "u64"
  | "key"
  | "i64"
  | "f64"
  | "ts"
  | "now"
  | "dur"
  | "interval"
  | "bin"
  | "u32s"
  | "strs"
  | "null";

/** Names of the types as the reference prints them (docs/spec/queries.md#tables). */
const NAMES: Readonly<Record<ColumnType, string>> = {
  str: "LargeUtf8",
  raw: "LargeUtf8",
  future: "LargeUtf8",
  bool: "Boolean",
  u32: "UInt32",
  u64: "UInt64",
  key: "UInt64",
  i64: "Int64",
  f64: "Float64",
  ts: 'Timestamp(ms, "+00:00")',
  now: "Timestamp(ns)",
  dur: "Duration(ms)",
  interval: "Interval(MonthDayNano)",
  bin: "LargeBinary",
  u32s: "List(UInt32)",
  strs: "List(LargeUtf8)",
  null: "Null",
};

export function printType(type: ColumnType): string {
  return NAMES[type];
}

export function isText(type: ColumnType): boolean {
  return type === "str" || type === "raw" || type === "future";
}

export function isInteger(type: ColumnType): boolean {
  return type === "u32" || type === "u64" || type === "i64";
}

export function isNumber(type: ColumnType): boolean {
  return isInteger(type) || type === "f64";
}

export function isTime(type: ColumnType): boolean {
  return type === "ts" || type === "now";
}

export function isSpan(type: ColumnType): boolean {
  return type === "dur" || type === "interval";
}

/** Of several values that end up in one column: the type that holds them all. */
export function commonType(types: readonly ColumnType[]): ColumnType {
  const all = [...new Set(types.filter((type) => type !== "null"))];
  if (all.length < 2) return all[0] ?? "null";
  if (all.every(isNumber)) {
    if (all.includes("f64")) return "f64";
    return all.includes("i64") ? "i64" : "u64";
  }
  if (all.every((type) => type === "key" || isInteger(type))) return "key";
  if (all.every(isTime)) return "ts";
  if (all.every(isSpan)) return "dur";
  return "str";
}
