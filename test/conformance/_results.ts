import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { expect } from "vitest";
import { GROUPS } from "./_groups.ts";
import { type Outcome, type Outcomes, readOutcomes, resultsFile } from "./_table.ts";

/** What becomes of the promises in one column, in this run. */
export class Results {
  readonly #key: string;
  readonly #planned: { group: string; name: string; outcome: Outcome; isSettled: boolean }[] = [];

  constructor(key: string) {
    this.#key = key;
  }

  /**
   * A promise that is about to be tried, once for each transport. `gap`: why it is not kept. Answers
   * what to call when it turned out as it should.
   */
  plan(group: string, name: string, gap: string | undefined): () => void {
    const outcome: Outcome = gap === undefined ? "kept" : { gap };
    const planned = { group, name, outcome, isSettled: false };
    this.#planned.push(planned);
    return () => void (planned.isSettled = true);
  }

  /**
   * Throws unless the support table says the same of all that was tried. With UPDATE_DOCS set, what
   * it is made of is written, and it throws unless everything was tried.
   */
  settle(): void {
    const isWhole = this.#planned.every(({ isSettled }) => isSettled);
    const now = this.#outcomes();
    if (process.env["UPDATE_DOCS"]) {
      expect(isWhole, "every promise turned out as it should").toBe(true);
      mkdirSync(path.dirname(resultsFile(this.#key)), { recursive: true });
      writeFileSync(resultsFile(this.#key), `${JSON.stringify(now, undefined, 2)}\n`);
    }
    const said = readOutcomes(this.#key);
    const hint = "UPDATE_DOCS=1 npx vitest run test/conformance test/tidy writes the table";
    if (isWhole) expect(now, hint).toEqual(said);
    else expect(said, hint).toMatchObject(now);
  }

  #outcomes(): Outcomes {
    const unsettled = new Set(
      this.#planned.filter(({ isSettled }) => !isSettled).map(({ name }) => name),
    );
    const outcomes: Record<string, Record<string, Outcome>> = {};
    const order = GROUPS.map(({ name }) => name);
    const inOrder = this.#planned.toSorted((a, b) =>
      order.indexOf(a.group) - order.indexOf(b.group)
    );
    for (const { group, name, outcome } of inOrder) {
      if (!unsettled.has(name)) (outcomes[group] ??= {})[name] = outcome;
    }
    return outcomes;
  }
}
