import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseToml } from "../../src/config/toml.ts";
import { Failure } from "../../src/errors.ts";

describe("what is read", () => {
  test("sections, dotted keys, comments and every kind of value", () => {
    const text = [
      "\uFEFF# a file",
      `top = "with \\"quotes\\", \\u00e9 and # no comment"  # a comment`,
      "literal = 'C:\\path'",
      "",
      "  [one.two]  # section",
      "three.four = 1_000",
      "ratio=-2.5e1",
      "on = true\r",
      "off = false#",
      `list = ["a", 'b', ] # trailing comma`,
      "none = []",
    ].join("\n");
    expect(parseToml(text)).toEqual([
      { key: "top", value: `with "quotes", é and # no comment`, line: 2 },
      { key: "literal", value: "C:\\path", line: 3 },
      { key: "one.two.three.four", value: 1000, line: 6 },
      { key: "one.two.ratio", value: -25, line: 7 },
      { key: "one.two.on", value: true, line: 8 },
      { key: "one.two.off", value: false, line: 9 },
      { key: "one.two.list", value: ["a", "b"], line: 10 },
      { key: "one.two.none", value: [], line: 11 },
    ]);
  });

  test("separators of Unicode end no line, in texts and in comments", () => {
    const text = `a = "x\u2028y" # z\u2029\n# \u2028\n[s] # \u2028\nb = '\u2029'`;
    expect(parseToml(text)).toEqual([
      { key: "a", value: "x\u2028y", line: 1 },
      { key: "s.b", value: "\u2029", line: 4 },
    ]);
  });

  test("any text gives entries or a failure that names a line", () => {
    const piece = fc.constantFrom(
      "[",
      "]",
      "a",
      ".",
      "=",
      '"',
      "'",
      "\\",
      "1",
      "#",
      ",",
      "\n",
      " ",
    );
    fc.assert(fc.property(fc.array(piece), (pieces) => {
      try {
        parseToml(pieces.join(""));
      } catch (cause) {
        expect(cause).toBeInstanceOf(Failure);
        expect((cause as Failure).message).toMatch(/line \d+ of the config file/);
      }
    }));
  });
});

describe("what is refused", () => {
  test.each([
    ["text without quotes", "a = 10m", `key "a" in line 1`],
    ["a value that is missing", "x = 1\na =", `key "a" in line 2`],
    ["two values", "a = 1 2", `key "a" in line 1`],
    ["a leading zero", "a = 01", `key "a" in line 1`],
    ["a number beyond all numbers", "a = 1e999", `key "a" in line 1`],
    ["a text that does not end", 'a = "b', `key "a" in line 1`],
    ["a text over several lines", 'a = """b"""', `key "a" in line 1`],
    ["an unknown escape", '[s]\na = "\\q"', `key "s.a" in line 2`],
    ["half a character", 'a = "\\ud800"', `key "a" in line 1`],
    ["a list of numbers", "a = [1]", `key "a" in line 1`],
    ["a list over several lines", 'a = [\n"b"]', `key "a" in line 1`],
    ["a list without commas", 'a = ["b" "c"]', `key "a" in line 1`],
    ["an inline table", "a = { b = 1 }", `key "a" in line 1`],
    ["a quoted key", '"a" = 1', "line 1"],
    ["a list of tables", "[[a]]", "line 1"],
    ["a line that is nothing", "a", "line 1"],
    ["a key given twice", "[s]\na = 1\na = 2", `key "s.a" stands in line 2 already`],
    ["a section given twice", "[s]\n[s]", `line 2 of the config file: section "s"`],
  ])("%s", (_, text, place) => {
    expect(() => parseToml(text)).toThrow(place);
  });
});
