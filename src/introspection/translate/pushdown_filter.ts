import type { Column, PushedFilter, StoredRelation, Value } from "./scope.ts";

/** The filter of a comparison on one table: of `column` with values that do not depend on rows. */
export function filterOf(
  sql: string,
  column: Column | undefined,
  others: readonly Value[],
): PushedFilter | undefined {
  if (!column?.stored || !others.every(isFixed)) return undefined;
  return { parts: [{ relation: column.stored.relation, sql }], isAll: true };
}

/** Whether a value is the same for all rows. */
export function isFixed({ constant, isSame = false }: Value): boolean {
  return constant !== undefined || isSame;
}

/** The filter of several conditions that must all be true. */
export function filterOfAll(values: readonly Value[]): PushedFilter {
  return {
    parts: values.flatMap(({ filter }) => filter?.parts ?? []),
    isAll: values.every(({ filter }) => filter?.isAll),
  };
}

/** The filter of alternatives, if all of them are on the same table. `sql`: of all of them. */
export function filterOfEither(values: readonly Value[], sql: string): PushedFilter | undefined {
  const parts = values.flatMap(({ filter }) => filter?.parts ?? []);
  const [first] = parts;
  const isOne = first && values.every(({ filter }) => filter?.isAll) &&
    parts.every(({ relation }) => relation === first.relation);
  return isOne ? { parts: [{ relation: first.relation, sql }], isAll: true } : undefined;
}

/**
 * Adds a filter to the tables that it is on, so that rows for which it is not true need not be copied.
 * `of`: the tables that may be filtered.
 */
export function pushFilter(
  filter: PushedFilter | undefined,
  of: ReadonlySet<StoredRelation>,
): void {
  for (const { relation, sql } of filter?.parts ?? []) {
    if (of.has(relation)) relation.filter.push(overStored(sql, relation));
  }
}

/** A text, which is none of our names whatever it says, or a column. */
const TEXT_OR_COLUMN = /'(?:[^']|'')*'|\br\d+\.c\d+\b/g;

/** The same condition where derived tables are not in between. */
function overStored(sql: string, { shown }: StoredRelation): string {
  return sql.replace(TEXT_OR_COLUMN, (one) => shown.get(one) ?? one);
}

/**
 * The same condition, marked as true of most rows. Without statistics SQLite takes the rows of an
 * equality for few, and reads and sorts all of a table where the first rows in the order of an index
 * would do. An index for the condition itself can still be used.
 */
export function likely(sql: string): string {
  return `likely(${sql})`;
}

/** The stored tables whose columns these are. */
export function storedOf(columns: readonly Column[]): Set<StoredRelation> {
  return new Set(columns.flatMap(({ stored }) => stored ? [stored.relation] : []));
}
