import type { StoredRelation } from "../translate/scope.ts";

/** Columns that any of these mentions of a table uses. */
export function usedOf(mentions: readonly StoredRelation[]): ReadonlySet<string> {
  return new Set(mentions.flatMap((one) => [...one.used]));
}

/** Whether these columns say something of the invocations that a journal calls. */
export function namesCallees(used: ReadonlySet<string>): boolean {
  return used.has("entry_json") || used.has("entry_lite_json");
}

/** Whether these columns show more of the bytes of an entry than how many there are. */
export function showsBytes(used: ReadonlySet<string>): boolean {
  return ["raw", "name", "entry_json", "entry_lite_json"].some((name) => used.has(name));
}

/** The ids of the invocations whose journals are wanted; undefined: all. */
export function wantedJournals(mentions: readonly StoredRelation[]): Set<string> | undefined {
  const pushed = mentions.map((one) => one.pushed.get("id"));
  return pushed.includes(undefined) ? undefined : new Set(pushed.flatMap((ids) => ids ?? []));
}

/** A text, which is no column whatever it says, or a column. */
const TEXT_OR_COLUMN = /'(?:[^']|'')*'|\br\d+\.c\d+\b/g;

/**
 * SQL that gives, of the indexes in the JSON list `?1`, those of entries that any of these mentions of
 * `sys_journal` wants, as bytes of a JSON list. Undefined: the conditions of one of them say nothing of
 * the index alone, so all are wanted.
 */
export function wantedIndexesSql(mentions: readonly StoredRelation[]): string | undefined {
  const conditions = mentions.map((mention) => {
    const column = `${mention.name}.${mention.refs.get("index")}`;
    return mention.filter.flatMap((sql) => ofIndex(sql, column) ?? []).join(" and ");
  });
  if (conditions.includes("")) return undefined;
  return `select cast(json_group_array(e.value) as blob) from json_each(?1) as e
    where ${conditions.map((one) => `(${one})`).join(" or ")}`;
}

/** A condition over `e.value`, if it is one on this column alone. */
function ofIndex(sql: string, column: string): string | undefined {
  const columns = (sql.match(TEXT_OR_COLUMN) ?? []).filter((one) => !one.startsWith("'"));
  if (!columns.includes(column) || columns.some((one) => one !== column)) return undefined;
  return sql.replace(TEXT_OR_COLUMN, (one) => one === column ? "e.value" : one);
}
