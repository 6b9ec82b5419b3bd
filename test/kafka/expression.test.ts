import fc from "fast-check";
import { expect, test } from "vitest";
import { expressionOf } from "../../src/kafka/expression.ts";

const TIMES = ["", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "{0}", "*?", "+?", "??"];
const CHARACTERS = String.raw`a b . - \. \w \D \s \x61 \u0062 \n { } ]`.split(" ");
const BRACKETS = String.raw`[ab] [^a] [a-c.] [\d-] [\w-.] [] [^] [-b] [\b1]`.split(" ");
const PLACES = String.raw`(?:\b) (?:\B) (?:^) (?:$)`.split(" ");
const GROUPS = ["(", "(?:", "(?<n>"];

/** Expressions of everything that is read, over few characters, so that they match now and then. */
const { expression } = fc.letrec<Record<"expression" | "sequence" | "one", string>>((tie) => ({
  expression: fc.array(tie("sequence"), { minLength: 1, maxLength: 3 }).map((all) => all.join("|")),
  sequence: fc.array(fc.tuple(tie("one"), fc.constantFrom(...TIMES)), { maxLength: 4 })
    .map((all) => all.flat().join("")),
  one: fc.oneof(
    { maxDepth: 3 },
    ...[CHARACTERS, BRACKETS, PLACES].map((texts) => fc.constantFrom(...texts)),
    fc.tuple(fc.constantFrom(...GROUPS), tie("expression")).map((both) => `${both.join("")})`),
  ),
}));
const name = fc.string({ unit: fc.constantFrom("a", "b", "c", "1", ".", "-", "\n"), maxLength: 6 });

test("an expression matches what JavaScript says that it matches", () => {
  fc.assert(
    fc.property(
      expression,
      fc.boolean(),
      fc.array(name, { maxLength: 8 }),
      (text, isWhole, names) => {
        const source = isWhole ? `^(?:${text})$` : text;
        let expected: RegExp;
        try {
          expected = new RegExp(source);
        } catch {
          // Two groups of one name.
          return;
        }
        const found = expressionOf(source);
        for (const one of names) expect([one, found.test(one)]).toEqual([one, expected.test(one)]);
      },
    ),
    { numRuns: 3000 },
  );
});

const LONG = `${"a".repeat(248)}!`;

test.each([
  "^(a+)+$",
  "^(a|a)*$",
  "^(a|aa)+$",
  "^(.*)*x$",
  "^.*.*.*.*.*.*.*.*.*.*x$",
  "^(?:a?){60}a{60}x",
  "^(([a-z])+.)+[A-Z]([a-z])+$",
])("%s looks at each character of a long name once", (text) => {
  expect(expressionOf(text).test(LONG)).toBe(false);
});

test.each([
  ["^(a)\\1", "refers to what was matched before"],
  ["^(?<n>a)\\k<n>", "refers to what was matched before"],
  ["^(?=a)", "looks ahead or behind"],
  ["^(?!a)", "looks ahead or behind"],
  ["^(?<=a)b", "looks ahead or behind"],
  ["^(?<!a)b", "looks ahead or behind"],
  ["^((a{100}){100}){100}", "too large"],
  ["^((){1000}){1000000}", "too large"],
  ["^a{4000000000}", "too large"],
  [`^${"(".repeat(500)}${")".repeat(500)}`, "too many groups"],
  ["^[\\12]", "old escape"],
  ["^(", "Unterminated group"],
  ["^a**", "Nothing to repeat"],
])("%s is refused", (text, why) => {
  expect(() => expressionOf(text)).toThrow(why);
});
