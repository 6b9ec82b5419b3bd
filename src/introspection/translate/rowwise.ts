import type { Call, Select, Sort } from "../syntax/ast.ts";
import { aggregates } from "./aggregates.ts";

/**
 * Whether each row of a SELECT is made of one row of what it selects from, and of no other. Then a
 * condition on its columns may be checked before it as well as behind it.
 */
export function isRowwise(
  { distinct, groupBy, having, columns }: Select,
  orderBy: readonly Sort[],
): boolean {
  return !distinct && groupBy.length === 0 && !having && !gathers(columns) && !gathers(orderBy);
}

/** Whether a function of many rows is called anywhere in a part of the tree. */
function gathers(part: unknown): boolean {
  if (typeof part !== "object" || part === null) return false;
  if ("kind" in part && part.kind === "call") {
    const { name, over } = part as Call;
    if (over || Object.hasOwn(aggregates, name)) return true;
  }
  return Object.values(part).some(gathers);
}
