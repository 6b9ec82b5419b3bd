/** A line of SQLite's plan: one of them is within the one it names as its parent. */
export interface PlanLine {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

/** How many rows an index finds for one value, when it is not a unique one: a guess. */
const FOUND = 4;
/** The elements of a list that is part of a row: a guess. */
const LISTED = 4;
/** The steps of a recursion. All are ours, over the characters of a name or the digits of an id. */
const STEPS = 30;

/** Rows that a part of a plan looks at, and the rows that it answers. */
interface Work {
  /** Looked at once for the statement, however often the part is run. */
  once: number;
  /** Looked at each time that the part is run. */
  each: number;
  rows: number;
}

/**
 * About how many rows a plan looks at: those of loops within loops multiply. `rowsOf`: how many rows
 * there are of what a line scans.
 */
export function workOf(plan: readonly PlanLine[], rowsOf: (detail: string) => number): number {
  const { once, each } = new Plan(plan, rowsOf).part(0);
  return once + each;
}

class Plan {
  readonly #children = new Map<number, PlanLine[]>();
  readonly #rowsOf: (detail: string) => number;

  constructor(plan: readonly PlanLine[], rowsOf: (detail: string) => number) {
    this.#rowsOf = rowsOf;
    for (const line of plan) {
      const known = this.#children.get(line.parent);
      if (known) known.push(line);
      else this.#children.set(line.parent, [line]);
    }
  }

  /** The lines within one line. `known`: rows of the subqueries that they can scan, by name. */
  part(parent: number, known: ReadonlyMap<string, number> = new Map()): Work {
    const lines = this.#children.get(parent) ?? [];
    const rowsOf = new Map(known);
    const sum: Work = { once: 0, each: 0, rows: 1 };
    let parts = 0;
    for (const { id, detail } of lines) {
      const [, subquery] = /^(?:CO-ROUTINE|MATERIALIZE) (.+)$/.exec(detail) ?? [];
      // The step of a recursion looks at the row before.
      const inner = this.part(
        id,
        subquery === undefined ? rowsOf : new Map(rowsOf).set(subquery, 1),
      );
      sum.once += inner.once;
      if (subquery !== undefined) {
        rowsOf.set(subquery, inner.rows);
        // What an index is made of is read once.
        const isOnce = lines.some((line) =>
          line.detail.startsWith(`SEARCH ${subquery} USING AUTO`)
        );
        sum[isOnce ? "once" : "each"] += inner.each;
      } else if (/^(?:SCAN|SEARCH) /.test(detail)) sum.rows *= this.#found(detail, rowsOf);
      // A subquery that names what is around it is run for each row that was found so far.
      else if (detail.startsWith("CORRELATED")) sum.each += sum.rows * inner.each;
      else if (/^(?:SCALAR|LIST) SUBQUERY/.test(detail)) sum.once += inner.each;
      else {
        const steps = detail === "RECURSIVE STEP" ? STEPS : 1;
        sum.each += steps * inner.each;
        if (isPart(detail)) parts += steps * inner.rows;
      }
    }
    sum.each += sum.rows;
    if (parts > 0) sum.rows *= parts;
    return sum;
  }

  #found(detail: string, known: ReadonlyMap<string, number>): number {
    if (detail.startsWith("SEARCH ")) return isUnique(detail) ? 1 : FOUND;
    if (detail === "SCAN CONSTANT ROW") return 1;
    // A list of constants is called like a stored table, and may be long.
    if (/^SCAN (?!t )\w+ VIRTUAL TABLE /.test(detail)) return LISTED;
    const name = detail.slice("SCAN ".length);
    return known.get(name) ?? Math.max(this.#rowsOf(detail), 1);
  }
}

/** Whether a line is one of several that the rows of a subquery come from. */
function isPart(detail: string): boolean {
  return /^(?:COMPOUND QUERY|LEFT-MOST SUBQUERY|UNION|SETUP|RECURSIVE STEP|MERGE|LEFT|RIGHT|EXCEPT|INTERSECT)/
    .test(detail);
}

/** Whether one row at most is found. */
function isUnique(detail: string): boolean {
  return /(PRIMARY KEY|sqlite_autoindex_\w+) \([^<>]*\)/.test(detail);
}
