import { isText, printType } from "../column_type.ts";
import type { ColumnType } from "../column_type.ts";
import { refused } from "../refusal.ts";
import { toSafe } from "../../storage/codec/safe_text.ts";
import { quoteText } from "../tables/table.ts";
import type { Value } from "./scope.ts";

/** `json -> key` and `json ->> key`. What is no JSON has no members. */
export function jsonMember(json: Value, key: Value, operator: "->" | "->>"): Value {
  return {
    sql: readable(json, `${json.sql} ${operator} ${memberOf(key)}`),
    type: "str",
    name: `${json.name} ${operator} ${key.name}`,
  };
}

/** A member by a path of keys, as the functions `json_get…` have it. */
export function jsonPath(
  [json, ...keys]: readonly Value[],
  { type, name }: { readonly type: ColumnType; readonly name: string },
): Value {
  if (!json || keys.length === 0) {
    throw refused("Cannot run the query: a JSON and a key are expected");
  }
  const members = keys.map(memberOf);
  const last = members.pop();
  const path = members.map((member) => ` -> ${member}`).join("");
  const operator = name === "json_get" || name === "json_get_json" ? "->" : "->>";
  const sql = readable(json, `${json.sql}${path} ${operator} ${last}`);
  const names = [json, ...keys].map((one) => one.name).join(",");
  return { sql, type, name: `${name}(${names})` };
}

function readable(json: Value, sql: string): string {
  if (!isText(json.type) && json.type !== "null") {
    throw refused(`Cannot run the query: ${printType(json.type)} is no JSON`);
  }
  return `case when json_valid(${json.sql}) then ${sql} end`;
}

/** A constant key as a path, so that one like `$.x` or `0` is a key. Integers are places. */
function memberOf({ constant, sql, type }: Value): string {
  if (constant?.type === "text" && !/["\\]/.test(constant.value)) {
    return quoteText(toSafe(`$."${constant.value}"`));
  }
  if (type === "i64" && constant) return sql;
  throw refused("Cannot run the query: a member of a JSON is named by a constant");
}
