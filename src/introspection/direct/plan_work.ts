/** A line of SQLite's plan: one of them is within the one it names as its parent. */
export interface PlanLine {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

/** How many rows an index finds for one value, when it is not a unique one: a guess. */
const FOUND = 4;

/**
 * About how many rows a plan looks at: those of loops within loops multiply. `rowsOf`: how many rows
 * there are of what a line scans.
 */
export function workOf(plan: readonly PlanLine[], rowsOf: (detail: string) => number): number {
  return work(plan, 0, rowsOf);
}

function work(
  plan: readonly PlanLine[],
  parent: number,
  rowsOf: (detail: string) => number,
): number {
  let loops = 1;
  let before = 0;
  for (const { id, detail } of plan.filter((line) => line.parent === parent)) {
    const inner = work(plan, id, rowsOf);
    if (detail.startsWith("SCAN ")) loops *= Math.max(rowsOf(detail), 1);
    else if (detail.startsWith("SEARCH ")) loops *= isUnique(detail) ? 1 : FOUND;
    // A subquery that names what is around it is run for each row that was found so far.
    else if (detail.startsWith("CORRELATED")) before += loops * inner;
    else before += inner;
  }
  return before + loops;
}

/** Whether one row at most is found. */
function isUnique(detail: string): boolean {
  return /(PRIMARY KEY|sqlite_autoindex_\w+) \([^<>]*\)/.test(detail);
}
