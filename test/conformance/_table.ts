import { readFileSync } from "node:fs";
import path from "node:path";
import { COLUMNS, MISSING } from "./_columns.ts";

/** Whether a promise is kept. `gap`: why it is not. */
export type Outcome = "kept" | { readonly gap: string };

/** Of all promises in one column, by group and name. */
export type Outcomes = Readonly<Record<string, Readonly<Record<string, Outcome>>>>;

/** Where the last run that was told to left the results of a column. */
export function resultsFile(key: string): string {
  return path.join(import.meta.dirname, "results", `${key}.json`);
}

/** Throws when there are none. */
export function readOutcomes(key: string): Outcomes {
  return JSON.parse(readFileSync(resultsFile(key), "utf8"));
}

/**
 * The support table of docs/support.md: groups of promises by runtime and storage, from the results of the
 * conformance runs, and below it every gap by name.
 */
export function describeSupport(): string {
  const notes = new Notes();
  const columns = COLUMNS.map(({ key, title }) => ({ title, outcomes: readOutcomes(key) }));
  const groups = [...new Set(columns.flatMap(({ outcomes }) => Object.keys(outcomes)))];
  const tried = groups.map((group) =>
    columns.map(({ outcomes }) => cellOf(group, outcomes[group] ?? {}, notes))
  );
  const missing = MISSING.map(({ why }) => `– ${notes.of(why, "everything")}`);
  const titles = [...columns, ...MISSING].map(({ title }) => title);
  return [
    row(["Promises", ...titles]),
    row(["---", ...titles.map(() => ":-:")]),
    ...groups.map((group, index) => row([group, ...tried[index] ?? [], ...missing])),
    "",
    ...notes.lines(),
  ].join("\n");
}

function cellOf(group: string, promises: Outcomes[string], notes: Notes): string {
  const all = Object.entries(promises);
  const gaps = all.flatMap(([name, outcome]) => outcome === "kept" ? [] : [{ name, ...outcome }]);
  if (gaps.length === 0) return "✓";
  const reasons = new Set(gaps.map(({ gap }) => gap));
  if (gaps.length === all.length && reasons.size === 1) {
    return `– ${notes.of([...reasons].join(), `all of ${group}`)}`;
  }
  const marks = new Set(gaps.map(({ name, gap }) => notes.of(gap, `_${name}_`)));
  return [`${all.length - gaps.length} of ${all.length}`, ...marks].join(" ");
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** Gaps with the same reason share a number. */
class Notes {
  readonly #names = new Map<string, Set<string>>();

  /** The mark of a reason, which now also holds for this. */
  of(why: string, name: string): string {
    const names = this.#names.get(why) ?? new Set();
    this.#names.set(why, names.add(name));
    return `<sup>${[...this.#names.keys()].indexOf(why) + 1}</sup>`;
  }

  lines(): string[] {
    return [...this.#names].map(([why, names], index) =>
      `${index + 1}. ${capital(why)}. Not kept: ${[...names].join("; ")}.`
    );
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
