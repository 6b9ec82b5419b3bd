import type { ColumnType } from "../column_type.ts";
import { ArrowFormat } from "./arrow_format.ts";
import type { Format } from "./format.ts";
import { JsonFormat } from "./json_format.ts";

/** The form of an answer. `warnings` follow the rows in JSON; Arrow has no place for them. */
export function formatOf(name: "json" | "arrow", warnings: readonly string[]): Format {
  return name === "json" ? new JsonFormat(warnings) : new ArrowFormat();
}

function isSmall(type: ColumnType): boolean {
  return !["str", "raw", "future", "bin", "u32s", "strs", "null"].includes(type);
}

/**
 * A value that may be fetched, as SQL. Text may be anything: a cast can make it of any bytes, and the
 * addon ends the process when it reads text that is not UTF-8. So no value leaves the database as text.
 */
export function safely(ref: string, type: ColumnType): string {
  if (!isSmall(type) && type !== "null") return `cast(${ref} as blob)`;
  return `case typeof(${ref}) when 'text' then cast(${ref} as blob) else ${ref} end`;
}

/** About how large such a value is, as SQL. */
export function sizeSql(ref: string, type: ColumnType): string {
  return isSmall(type) ? "8" : `ifnull(length(${ref}), 0)`;
}
