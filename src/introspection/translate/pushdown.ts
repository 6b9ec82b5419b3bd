import type { Select, Sort } from "../syntax/ast.ts";
import { translate } from "./expression.ts";
import { likely, pushFilter, storedOf } from "./pushdown_filter.ts";
import { pushKeys } from "./pushdown_keys.ts";
import { pushLimit } from "./pushdown_limit.ts";
import type { Scope, Value } from "./scope.ts";

/**
 * Hands what a SELECT says of its rows to the stored tables that it reads, so that these produce no
 * others: keys, conditions, and its first rows in an order. `scope`: what it selects from. Answers its
 * condition. Throws a `Failure` for one that cannot be run.
 */
export function pushDown(
  select: Select,
  { orderBy, rowsMax, scope }: {
    readonly orderBy: readonly Sort[];
    /** Rows that are taken of it, those that are left out included. Absent: all. */
    readonly rowsMax: number | undefined;
    readonly scope: Scope;
  },
): Value | undefined {
  const where = select.where && translate(select.where, scope);
  // What it says of a query around this one need not hold for all rows of that one.
  const own = storedOf(scope.columns);
  if (where?.facts) pushKeys(where.facts, own);
  pushFilter(where?.filter, own);
  const isLimited = pushLimit(select, { orderBy, rowsMax, where, scope, of: [...own] });
  if (!where?.filter || !isLimited || orderBy.length === 0) return where;
  return { ...where, sql: where.filter.parts.map(({ sql }) => likely(sql)).join(" and ") };
}
