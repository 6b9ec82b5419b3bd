import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  applyBatch,
  applyRemovals,
  type Precondition,
  type RuleEntry,
} from "../../src/admin/rules/batch.ts";
import { changedControls, type ControlsChange } from "../../src/model/controls.ts";
import { NO_CONTROLS, type Rule, RuleBook } from "../../src/model/limits.ts";
import { readPattern } from "../../src/model/rule_pattern.ts";

const OPTIONS = { now: 50, rulesMax: 4 };

function rule(pattern: string, more: Partial<Rule> = {}): Rule {
  return { pattern, limits: {}, disabled: false, version: 2, modifiedAt: 7, ...more };
}

function entry(pattern: string, more: Partial<RuleEntry> = {}): RuleEntry {
  return { pattern, limits: {}, disabled: false, precondition: { type: "none" }, ...more };
}

function after(book: RuleBook, change: ControlsChange["book"]): RuleBook {
  return changedControls({ ...NO_CONTROLS, rules: book }, change ? { book: change } : {}).rules;
}

const BOOK = new RuleBook([rule("a"), rule("b", { version: 5, description: "old" })], 5);

describe("an entry", () => {
  test("of a new pattern has the new version of the book, not 1", () => {
    const { book, rules } = applyBatch(BOOK, [entry("n"), entry("m")], OPTIONS);
    expect(rules).toEqual([
      rule("n", { version: 6, modifiedAt: 50 }),
      rule("m", { version: 6, modifiedAt: 50 }),
    ]);
    expect(after(BOOK, book).version).toBe(6);
  });

  test("that changes a limit, a rate or the switch counts its rule up", () => {
    for (
      const change of [
        { disabled: true },
        { limits: { concurrency: 1 } },
        { limits: { rate: { count: 1, periodMs: 1 } } },
      ]
    ) {
      const { rules } = applyBatch(BOOK, [entry("a", change)], OPTIONS);
      expect(rules).toEqual([rule("a", { ...change, version: 3, modifiedAt: 50 })]);
    }
  });

  test("that sets a burst counts its rule up", () => {
    const rate = { count: 1, periodMs: 1000 };
    const book = new RuleBook([rule("a", { limits: { rate } })], 2);
    expect(applyBatch(book, [entry("a", { limits: { rate } })], OPTIONS).book).toBeUndefined();
    const burst = entry("a", { limits: { rate: { ...rate, burst: 1 } } });
    expect(applyBatch(book, [burst], OPTIONS).rules).toMatchObject([{ version: 3 }]);
  });

  test("of a client that knows no rates leaves the rate as it is", () => {
    const rate = { count: 1, periodMs: 1000 };
    const book = new RuleBook([rule("a", { limits: { concurrency: 1, rate } })], 2);
    const disabling = entry("a", { limits: { concurrency: 1 }, disabled: true, keepsRate: true });
    const { rules } = applyBatch(book, [disabling], OPTIONS);
    expect(rules).toMatchObject([{ disabled: true, limits: { concurrency: 1, rate }, version: 3 }]);
    const same = entry("a", { limits: { concurrency: 1 }, keepsRate: true });
    expect(applyBatch(book, [same], OPTIONS).book).toBeUndefined();
    const fresh = applyBatch(book, [{ ...same, pattern: "n" }], OPTIONS).rules;
    expect(fresh).toMatchObject([{ limits: { concurrency: 1 } }]);
    expect(fresh[0]?.limits).not.toHaveProperty("rate");
  });

  test("that only describes changes neither version nor time of its rule, but the book's", () => {
    const { book, rules } = applyBatch(BOOK, [entry("a", { description: "new" })], OPTIONS);
    expect(rules).toEqual([rule("a", { description: "new" })]);
    expect(after(BOOK, book).version).toBe(6);
  });

  test("replaces the whole rule: what it leaves out is gone", () => {
    const full = rule("a", { limits: { concurrency: 3 }, disabled: true, description: "d" });
    const { rules } = applyBatch(new RuleBook([full], 2), [entry("a")], OPTIONS);
    expect(rules).toEqual([rule("a", { version: 3, modifiedAt: 50 })]);
  });

  test("that changes nothing leaves the book as it is", () => {
    const same = [entry("a"), entry("b", { description: "old" })];
    expect(applyBatch(BOOK, same, OPTIONS)).toEqual({ book: undefined, rules: BOOK.rules });
  });

  test("sees those before it, and every answer is the rule at the end", () => {
    const batch = [
      entry("n", { precondition: { type: "does_not_exist" } }),
      entry("n", { disabled: true, precondition: { type: "matches", version: 6 } }),
    ];
    const { rules } = applyBatch(BOOK, batch, OPTIONS);
    const end = rule("n", { disabled: true, version: 7, modifiedAt: 50 });
    expect(rules).toEqual([end, end]);
  });
});

describe("a precondition", () => {
  const refused = (pattern: string, precondition: Precondition) => () =>
    applyBatch(BOOK, [entry("n"), entry(pattern, { precondition })], OPTIONS);

  test("that does not hold refuses the batch, in the words of the reference", () => {
    const words = "rule precondition";
    expect(refused("b", { type: "does_not_exist" })).toThrow(expect.objectContaining({
      status: 409,
      message: `${words} DoesNotExist for pattern b failed (actual version: Some(v5))`,
    }));
    expect(refused("b", { type: "matches", version: 99 })).toThrow(expect.objectContaining({
      status: 409,
      message: `${words} Matches(v99) for pattern b failed (actual version: Some(v5))`,
    }));
    expect(refused("x", { type: "matches", version: 0 })).toThrow(expect.objectContaining({
      status: 409,
      message: `${words} Matches(v0) for pattern x failed (actual version: None)`,
    }));
  });

  test("comes before the limit of the book", () => {
    const batch = ["n", "m"].map((pattern) => entry(pattern));
    const late = entry("o", { precondition: { type: "matches", version: 1 } });
    expect(() => applyBatch(BOOK, [...batch, late], OPTIONS)).toThrow(/Matches\(v1\)/);
    expect(() => applyBatch(BOOK, [...batch, entry("o")], OPTIONS)).toThrow(
      expect.objectContaining({
        status: 422,
        message: expect.stringMatching(/^rule book is full \(4 rules\): .*admin\.rules-limit/),
      }),
    );
  });
});

test("a full book still takes changes of its rules", () => {
  const full = new RuleBook(["a", "b", "c", "d"].map((pattern) => rule(pattern)), 2);
  const { rules } = applyBatch(full, [entry("d", { disabled: true })], OPTIONS);
  expect(rules).toMatchObject([{ version: 3 }]);
});

describe("a removal", () => {
  test("lists what there was, as often as it was asked for", () => {
    const { book, removed } = applyRemovals(BOOK, [
      { pattern: "a" },
      { pattern: "nope" },
      { pattern: "a" },
    ]);
    expect(removed).toEqual(["a", "a"]);
    expect(after(BOOK, book)).toMatchObject({ version: 6, rules: [{ pattern: "b" }] });
  });

  test("of nothing leaves the book as it is", () => {
    expect(applyRemovals(BOOK, [{ pattern: "nope" }])).toEqual({ book: undefined, removed: [] });
  });

  test("with a version needs the rule to have it, also after those before it", () => {
    const remove = (...removals: Parameters<typeof applyRemovals>[1]) => () =>
      applyRemovals(BOOK, removals);
    expect(remove({ pattern: "b", expectedVersion: 5 })().removed).toEqual(["b"]);
    expect(remove({ pattern: "b", expectedVersion: 4 })).toThrow(/Some\(v5\)/);
    expect(remove({ pattern: "x", expectedVersion: 4 })).toThrow(/Matches\(v4\).*None/);
    expect(remove({ pattern: "b" }, { pattern: "b", expectedVersion: 5 })).toThrow(/None/);
  });
});

test("versions of new rules grow for ever, whatever is removed", () => {
  const step = fc.record({
    pattern: fc.constantFrom("a", "b", "c"),
    does: fc.constantFrom("put", "disable", "remove"),
  });
  fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
    let book = new RuleBook([], 0);
    const born = new Map<string, number>();
    for (const { pattern, does } of steps) {
      const before = book.version, known = book.get(pattern);
      const { book: change } = does === "remove"
        ? applyRemovals(book, [{ pattern }])
        : applyBatch(book, [entry(pattern, { disabled: does === "disable" })], OPTIONS);
      book = after(book, change);
      expect(book.version).toBe(before + (change ? 1 : 0));
      const now = book.get(pattern);
      if (!now || known) continue;
      expect(now.version).toBeGreaterThan(born.get(pattern) ?? 0);
      born.set(pattern, now.version);
    }
  }));
});

describe("a pattern", () => {
  test("has one canonical form", () => {
    const forms: Record<string, string> = {
      "a": "a",
      " a / b ": "a/b",
      "a/": "a",
      "a/b/c/": "a/b/c",
      "*": "*",
      "* / * / *": "*/*/*",
      "\ta.-_Z9\n": "a.-_Z9",
    };
    for (const [text, pattern] of Object.entries(forms)) {
      expect(readPattern(text)).toEqual({ pattern });
    }
    expect(readPattern("x".repeat(36))).toEqual({ pattern: "x".repeat(36) });
  });

  test("that is invalid is refused in the words of the reference", () => {
    const set =
      "invalid component: value contains characters outside the allowed set [a-zA-Z0-9_.-]";
    const empty = "invalid component: value cannot be empty";
    const problems: Record<string, string> = {
      "": "pattern cannot be empty",
      "  ": "pattern cannot be empty",
      "/": empty,
      "/*": empty,
      "a//b": empty,
      "a//": empty,
      "a/b/c/d": "too many path components (max 3)",
      "s*": set,
      "**": set,
      "a b": set,
      "é": set,
      [`${"x".repeat(37)}`]: "invalid component: value too long: 37 bytes (max 36)",
    };
    for (const [text, problem] of Object.entries(problems)) {
      expect(readPattern(text)).toEqual({ problem });
    }
  });
});
