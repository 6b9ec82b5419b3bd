import type { StateRow } from "../../keyed/statements.ts";
import type { EntryRow } from "../steps.ts";
import { type Fact, factsOf, type Known, type StateAt, stateAt } from "./state_at.ts";

/** A run of the same object, which began before the one that is looked at. */
export interface EarlierRun {
  readonly id: string;
  readonly handler: string;
  /** Its entries that say something of the state, in their order. */
  readonly rows: readonly EntryRow[];
}

/** What else is known of an object than the journal of one of its runs says. */
export interface Sources {
  /** The newest first, as far back as nothing else can have written in between. */
  readonly runs: readonly EarlierRun[];
  /** The state as it is now, where nobody can have changed it since. */
  readonly now?: {
    readonly rows: readonly StateRow[];
    readonly isWhole: boolean;
  };
  /** A workflow begins without state. */
  readonly isNew?: boolean;
}

/** A key that the journal alone leaves open, and what else says what it was. */
export type Found =
  & { readonly key: string; readonly at: number }
  & (
    | { readonly kind: "now"; readonly row: StateRow }
    | { readonly kind: "run"; readonly run: EarlierRun; readonly valueIndex: number }
    /** `run`: absent, if there was none before. */
    | { readonly kind: "void"; readonly run?: EarlierRun }
  );

/** What is known of the state at the beginning of a run. */
export interface Beginning {
  /** By key. A key that was not set has no value. */
  readonly found: ReadonlyMap<string, Found>;
  /** Whether there certainly was no other key. */
  readonly isWhole: boolean;
}

/**
 * The state at the beginning of a run, of what else is known. `facts`: those of its own journal: what it
 * wrote itself is no longer now as it was.
 */
export function beginningOf(facts: readonly Fact[], { runs, now, isNew }: Sources): Beginning {
  const found = new Map<string, Found>();
  const written = new Set(
    facts.flatMap(({ kind, key }) => kind === "set" || kind === "clear" ? [key] : []),
  );
  if (isNew) {
    for (const key of written) found.set(key, { kind: "void", key, at: -1 });
    return { found, isWhole: true };
  }
  const isCleared = facts.some(({ kind }) => kind === "clearAll");
  if (now && !isCleared) {
    for (const row of now.rows) {
      if (!written.has(row.key)) found.set(row.key, { kind: "now", key: row.key, at: -1, row });
    }
  }
  const isListed = now?.isWhole === true && !isCleared;
  const isWhole = addRuns(found, runs, { written, isListed });
  return { found, isWhole: isWhole || isListed };
}

/** Behind every entry. */
const END = Number.MAX_SAFE_INTEGER;

/**
 * Adds what earlier runs left. `isListed`: all keys but those that are `written` are known already.
 * Answers whether that is all that there was.
 */
function addRuns(
  found: Map<string, Found>,
  runs: readonly EarlierRun[],
  { written, isListed }: { readonly written: ReadonlySet<string>; readonly isListed: boolean },
): boolean {
  for (const run of runs) {
    const { known, isWhole } = stateAt(factsOf(run.rows), END, new Map());
    for (const one of known) {
      const { key, kind, at } = one;
      if (found.has(key) || (isListed && !written.has(key))) continue;
      if (kind === "value") {
        found.set(key, { kind: "run", key, at, run, valueIndex: one.valueIndex });
      } else if (kind === "absent") found.set(key, { kind: "void", key, at, run });
    }
    if (!isWhole) continue;
    for (const key of written) {
      if (!found.has(key)) found.set(key, { kind: "void", key, at: 0, run });
    }
    return true;
  }
  return false;
}

/** The state at an entry: what the journal says, and where it says nothing, what else does. */
export function withBeginning(
  { known, isWhole }: StateAt,
  beginning: Beginning,
): { readonly known: readonly (Known | Found)[]; readonly isWhole: boolean } {
  const own = new Set(known.map(({ key }) => key));
  const all = known.map((one) =>
    one.kind === "unknown" || one.kind === "present" ? beginning.found.get(one.key) ?? one : one
  );
  if (isWhole) return { known: all, isWhole };
  const others = [...beginning.found.values()]
    .filter(({ key, kind }) => !own.has(key) && kind !== "void");
  const sorted = [...all, ...others].sort((a, b) => a.key < b.key ? -1 : 1);
  return { known: sorted, isWhole: beginning.isWhole };
}
