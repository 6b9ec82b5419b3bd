/** Rows that come with a statement, since they are not where it is run: a table for it. */
export interface GivenRows {
  readonly name: string;
  readonly columns: readonly string[];
  /** A JSON array of rows, each an array of the columns. */
  readonly rows: string;
}

/**
 * How far limits that all partitions share are used in other databases: slots that are taken, and the
 * bucket. `counter`: as the engine calls it (`engine/flow/counters.ts`).
 */
export const ELSEWHERE = {
  name: "elsewhere",
  columns: ["counter", "held", "tokens", "at"],
} as const;

/** `ELSEWHERE` where there is no other database: a term of a WITH, and a table. */
export const NO_ELSEWHERE = `${ELSEWHERE.name}(${ELSEWHERE.columns.join(", ")}) as
  (select null, null, null, null where 0)`;
export const MAKE_NO_ELSEWHERE = `create table main.${ELSEWHERE.name}
  (${ELSEWHERE.columns.join(", ")})`;

/** Whether SQL of ours reads a table: it says `from table as name`. */
export function mentions(sql: string, { name }: Pick<GivenRows, "name">): boolean {
  return new RegExp(`\\b(?:from|join) ${name} as\\b`).test(sql);
}

/** Such rows as a term of a WITH. `list`: SQL of their `rows`. */
export function givenTerm(
  { name, columns }: Pick<GivenRows, "name" | "columns">,
  list: string,
): string {
  const values = columns.map((_, i) => `value ->> ${i}`);
  return `${name}(${columns.join(", ")}) as materialized
  (select ${values.join(", ")} from json_each(${list}))`;
}
