import { refused } from "../refusal.ts";

/**
 * How large expressions become when SQLite puts the columns of a subquery into the query around it: each
 * mention of a column is replaced by what it is. Twenty subqueries that each say `x || x` are a million
 * copies of the innermost, made while the statement is prepared, where nothing can stop it.
 */
export class TermCounts {
  /** Columns as they are mentioned, `r1.c2` or `c2`, and the terms they stand for. */
  readonly #terms = new Map<string, number>();

  /** Says what a column stands for, in SQL. */
  define(ref: string, sql: string): void {
    this.#terms.set(ref, this.#weigh(sql));
  }

  /** Another name for a column. */
  alias(ref: string, of: string): void {
    this.#terms.set(ref, this.#terms.get(of) ?? 1);
  }

  /** Throws a `Failure` 400 when a statement would become too large. */
  check(sql: string): void {
    if (this.#weigh(sql) <= TERMS_MAX) return;
    throw refused("Cannot run the query: its subqueries multiply to something too complex");
  }

  #weigh(sql: string): number {
    let sum = Math.ceil(sql.length / CHARS_PER_TERM);
    for (const [ref] of sql.matchAll(REF)) sum += this.#terms.get(ref) ?? 1;
    return sum;
  }
}

const REF = /\b(?:r\d+\.)?c\d+\b/g;
const CHARS_PER_TERM = 20;
/** Some hundred megabytes at the most. */
const TERMS_MAX = 1_000_000;
