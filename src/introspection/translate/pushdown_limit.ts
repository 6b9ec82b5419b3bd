import type { Select, Sort } from "../syntax/ast.ts";
import { sortSql } from "./call.ts";
import { findColumn, type Scope, type StoredRelation, type Value } from "./scope.ts";

/** More rows than these are read in pages, and so in the order of their keys. */
const ROWS_MAX = 4000;

/**
 * Remembers with a table that only its first rows in some order are needed, when that is all that a
 * query says: it takes columns of one table, in an order of such columns, up to a limit. Answers whether
 * it is.
 */
export function pushLimit(
  select: Select,
  { orderBy, rowsMax, where, scope, of: [relation, ...others] }: {
    readonly orderBy: readonly Sort[];
    readonly rowsMax: number | undefined;
    readonly where: Value | undefined;
    readonly scope: Scope;
    /** The stored tables that it selects from. */
    readonly of: readonly StoredRelation[];
  },
): boolean {
  if (!relation || others.length > 0 || select.from?.kind !== "table") return false;
  if (rowsMax === undefined || !isPlain(select)) return false;
  if (rowsMax > ROWS_MAX && orderBy.length > 0) return false;
  if (where && !where.filter?.isAll) return false;
  const order = orderBy.map((sort) => termOf(sort, select, scope));
  if (order.includes(undefined)) return false;
  relation.firstRows = { order: order.join(", "), rowsMax };
  return true;
}

/** Whether each of its rows is one row of what it selects from. */
function isPlain({ distinct, groupBy, having, columns }: Select): boolean {
  return !distinct && groupBy.length === 0 && !having &&
    columns.every((column) =>
      column.kind !== "one" || column.expr.kind === "column" || column.expr.kind === "literal"
    );
}

/** A term of the order over columns of the table; undefined: it is something else. */
function termOf(sort: Sort, { columns }: Select, scope: Scope): string | undefined {
  const { expr } = sort;
  if (expr.kind !== "column") return undefined;
  const [name, ...more] = expr.path.toReversed();
  // A name that was given to something else.
  const isGiven = more.length === 0 &&
    columns.some((column) => column.kind === "one" && column.alias === name);
  if (isGiven) return undefined;
  const column = findColumn(scope, expr.path);
  if (!column.stored || !scope.columns.includes(column)) return undefined;
  return sortSql(sort, {
    sql: column.read(),
    type: column.type,
    name: "",
    notNull: column.notNull,
  });
}
