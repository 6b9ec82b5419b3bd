import { didYouMean } from "../../nearest.ts";
import { cut } from "../refusal.ts";
import type { Column, StoredRelation, Value } from "./scope.ts";

/** Constants that one answer warns about. Further ones are passed over. */
const WARNINGS_MAX = 10;

/**
 * Remembers which of `others` are constants that a column of few values never holds. The comparison
 * still runs as it was written: it is valid SQL, and only most likely a mistake.
 */
export function noteConstants(column: Column | undefined, others: readonly Value[]): void {
  if (!column?.stored) return;
  const { relation: { table, unheld }, name } = column.stored;
  const values = table.columns.find((one) => one.name === name)?.values;
  if (!values) return;
  for (const { constant } of others) {
    if (constant?.type !== "text" || values.includes(constant.value)) continue;
    const noted = unheld.get(name) ?? new Set();
    unheld.set(name, noted.add(constant.value));
  }
}

/**
 * A warning for each constant that was noted, with the values that the column holds. Printable ASCII, so
 * that it may be the value of a header.
 */
export function warningsOf(relations: readonly StoredRelation[]): string[] {
  const warnings = relations.flatMap(({ table, unheld }) =>
    [...unheld].flatMap(([name, constants]) => {
      const values = table.columns.find((one) => one.name === name)?.values ?? [];
      return [...constants].map((constant) => warning(`${table.name}.${name}`, constant, values));
    })
  );
  return [...new Set(warnings)].slice(0, WARNINGS_MAX);
}

function warning(column: string, constant: string, values: readonly string[]): string {
  const meant = didYouMean(cut(constant), values);
  const text = `${column} is never '${cut(constant)}'${meant}; its values are ${values.join(", ")}`;
  return text.replaceAll('"', "'").replaceAll(/[^\x20-\x7e]/g, "?");
}
