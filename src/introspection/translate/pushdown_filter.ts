import type { Column, StoredRelation, Told, Value } from "./scope.ts";

/** What a comparison tells of the rows of one table: `column` with values that do not depend on rows. */
export function toldBy(
  sql: string,
  column: Column | undefined,
  others: readonly Value[],
): Told | undefined {
  if (!column?.stored || !others.every(isFixed)) return undefined;
  return { parts: [{ relation: column.stored.relation, sql }], isAll: true };
}

/** Whether a value is the same for all rows. */
export function isFixed({ constant, isSame = false }: Value): boolean {
  return constant !== undefined || isSame;
}

/** What several conditions tell together. */
export function toldByAll(values: readonly Value[]): Told {
  return {
    parts: values.flatMap(({ told }) => told?.parts ?? []),
    isAll: values.every(({ told }) => told?.isAll),
  };
}

/** What alternatives tell: something if all of them are about the same table. `sql`: of all of them. */
export function toldByEither(values: readonly Value[], sql: string): Told | undefined {
  const parts = values.flatMap(({ told }) => told?.parts ?? []);
  const [first] = parts;
  const isOne = first && values.every(({ told }) => told?.isAll) &&
    parts.every(({ relation }) => relation === first.relation);
  return isOne ? { parts: [{ relation: first.relation, sql }], isAll: true } : undefined;
}

/**
 * Remembers with the tables what is told of them, so that rows for which it does not hold need not be
 * copied. `of`: the tables that it may be said of.
 */
export function tell(told: Told | undefined, of: ReadonlySet<StoredRelation>): void {
  for (const { relation, sql } of told?.parts ?? []) {
    if (of.has(relation)) relation.told.push(overStored(sql, relation));
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
