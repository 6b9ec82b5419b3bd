import { Failure } from "../../errors.ts";
import type { ControlsChange } from "../../model/controls.ts";
import type { Limits, Rule, RuleBook } from "../../model/limits.ts";

/** What must hold of the rule of an entry, or the batch is refused. */
export type Precondition =
  | { readonly type: "none" }
  | { readonly type: "does_not_exist" }
  | { readonly type: "matches"; readonly version: number };

/** A rule as a client wants it. Its pattern is in canonical form. */
export interface RuleEntry extends Pick<Rule, "pattern" | "limits" | "disabled" | "description"> {
  readonly precondition: Precondition;
  /** The rule keeps the rate that it has: the client cannot know that there are rates. */
  readonly keepsRate?: true;
}

/** A rule that a client wants removed. With a version: only if it exists and has it. */
export interface RuleRemoval {
  readonly pattern: string;
  readonly expectedVersion?: number;
}

/** What a batch makes of the book. Undefined: nothing changes. */
type BookChange = ControlsChange["book"];

/**
 * Decides a batch of entries, in their order, each by what those before it have done
 * (docs/spec/admin.md#rules). Returns the rule of each entry as it is after the whole batch. `now`:
 * milliseconds since the epoch. Throws a `Failure`: 409 for a precondition that does not hold, 422
 * when there would be more than `rulesMax` rules. Then nothing of the batch is to be applied.
 */
export function applyBatch(
  book: RuleBook,
  entries: readonly RuleEntry[],
  { now, rulesMax }: { readonly now: number; readonly rulesMax: number },
): { readonly book: BookChange; readonly rules: readonly Rule[] } {
  const version = book.version + 1;
  const changed = new Map<string, Rule>();
  let count = book.rules.length;
  const current = (pattern: string) => changed.get(pattern) ?? book.get(pattern);
  for (const entry of entries) {
    const known = current(entry.pattern);
    check(entry.precondition, entry.pattern, known);
    if (!known && ++count > rulesMax) throw full(rulesMax);
    const rule = ruleOf(entry, known, { version, now });
    if (rule !== known) changed.set(entry.pattern, rule);
  }
  return {
    book: changed.size > 0 ? { version, rules: changed } : undefined,
    rules: entries.flatMap(({ pattern }) => current(pattern) ?? []),
  };
}

/**
 * Decides a batch of removals, in their order (docs/spec/admin.md#rules). A pattern without a rule is
 * skipped, unless a version is expected. Returns the pattern of each removal whose rule there was
 * before the batch. Throws a `Failure` 409 for a version that is another one.
 */
export function applyRemovals(
  book: RuleBook,
  removals: readonly RuleRemoval[],
): { readonly book: BookChange; readonly removed: readonly string[] } {
  const gone = new Map<string, undefined>();
  for (const { pattern, expectedVersion: version } of removals) {
    const known = gone.has(pattern) ? undefined : book.get(pattern);
    if (version !== undefined) check({ type: "matches", version }, pattern, known);
    if (known) gone.set(pattern, undefined);
  }
  return {
    book: gone.size > 0 ? { version: book.version + 1, rules: gone } : undefined,
    removed: removals.flatMap(({ pattern }) => gone.has(pattern) ? [pattern] : []),
  };
}

/** The rule after an entry: the same object as before when the entry changes nothing. */
function ruleOf(
  { pattern, limits: wanted, disabled, description, keepsRate }: RuleEntry,
  known: Rule | undefined,
  { version, now }: { readonly version: number; readonly now: number },
): Rule {
  const described = description === undefined ? {} : { description };
  const rate = keepsRate && known?.limits.rate;
  const limits = rate ? { ...wanted, rate } : wanted;
  if (!known) return { pattern, limits, disabled, version, modifiedAt: now, ...described };
  if (disabled !== known.disabled || !sameLimits(limits, known.limits)) {
    return { pattern, limits, disabled, version: known.version + 1, modifiedAt: now, ...described };
  }
  if (description === known.description) return known;
  const { version: same, modifiedAt } = known;
  return { pattern, limits, disabled, version: same, modifiedAt, ...described };
}

/** Whether two limits are written alike. */
export function sameLimits(a: Limits, b: Limits): boolean {
  return a.concurrency === b.concurrency && a.rate?.count === b.rate?.count &&
    a.rate?.periodMs === b.rate?.periodMs && a.rate?.burst === b.rate?.burst;
}

function check(precondition: Precondition, pattern: string, known: Rule | undefined): void {
  if (precondition.type === "none") return;
  if (precondition.type === "does_not_exist") {
    if (known) throw refused("DoesNotExist", pattern, known);
    return;
  }
  const { version } = precondition;
  if (known?.version !== version) throw refused(`Matches(v${version})`, pattern, known);
}

/** In the words of the reference, which clients may look for (docs/spec/admin.md#rules). */
function refused(precondition: string, pattern: string, known: Rule | undefined): Failure {
  const actual = known ? `Some(v${known.version})` : "None";
  return Failure.plain(
    409,
    `rule precondition ${precondition} for pattern ${pattern} failed (actual version: ${actual})`,
  );
}

function full(rulesMax: number): Failure {
  const hint = `remove some, or raise the setting "admin.rules-limit"`;
  return Failure.plain(422, `rule book is full (${rulesMax} rules): ${hint}`);
}
