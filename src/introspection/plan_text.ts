import type { AnswerColumn, Row } from "./render/format.ts";
import type { Stored } from "./render/cell.ts";

/** What EXPLAIN answers with, in the columns of the reference. */
export const PLAN_COLUMNS: readonly (AnswerColumn & { readonly ref: string })[] = [
  { name: "plan_type", type: "str", isShort: true, ref: "plan_type" },
  { name: "plan", type: "str", isShort: true, ref: "plan" },
];

/**
 * SQLite's plan as the one row of an answer: each of its lines below the one it belongs to, and two
 * blanks further in. `lines`: id, parent, something unused and the text, in SQLite's order.
 */
export function planRow(lines: readonly Row[]): readonly [string, string] {
  const depths = new Map<Stored, number>();
  const text = lines.map(([id = null, parent = null, , detail]) => {
    const depth = (depths.get(parent) ?? -1) + 1;
    depths.set(id, depth);
    return `${"  ".repeat(depth)}${detail}`;
  });
  return ["physical_plan", text.join("\n")];
}
