import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseList, parseToml } from "../../src/config/toml.ts";
import { Failure } from "../../src/errors.ts";

/** Keys with values and lines. */
function read(text: string): unknown[] {
  return parseToml(text).map(({ key, value, line }) => ({ key, value, line: line() }));
}

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
      "hex = 0xff",
    ].join("\n");
    expect(read(text)).toEqual([
      { key: "top", value: `with "quotes", é and # no comment`, line: 2 },
      { key: "literal", value: "C:\\path", line: 3 },
      { key: "one.two.three.four", value: 1000, line: 6 },
      { key: "one.two.ratio", value: -25, line: 7 },
      { key: "one.two.on", value: true, line: 8 },
      { key: "one.two.off", value: false, line: 9 },
      { key: "one.two.list", value: ["a", "b"], line: 10 },
      { key: "one.two.none", value: [], line: 11 },
      { key: "one.two.hex", value: 255, line: 12 },
    ]);
  });

  test("tables however they are written, and values over several lines", () => {
    const text = [
      "inline = { a = 1, b.c = 'x' }",
      'long = """',
      "[no.section]",
      'end"""',
      "list = [",
      "  1, # one",
      "]",
      '"quoted" = 1',
      '"with.dot" = 2',
      "[s]",
      "day = 2026-11-22",
      "[[many]]",
      "a = 1",
    ].join("\r\n");
    expect(read(text)).toMatchObject([
      { key: "inline.a", value: 1, line: 1 },
      { key: "inline.b.c", value: "x", line: 1 },
      { key: "long", value: "[no.section]\r\nend", line: 2 },
      { key: "list", value: [1], line: 5 },
      { key: "quoted", value: 1, line: 8 },
      { key: '"with.dot"', value: 2, line: 9 },
      { key: "s.day", line: 11 },
      { key: "many", value: [{ a: 1 }], line: 12 },
    ]);
  });

  test("separators of Unicode end no line, in texts and in comments", () => {
    const text = `a = "x\u2028y" # z\u2029\n# \u2028\n[s] # \u2028\nb = '\u2029'`;
    expect(read(text)).toEqual([
      { key: "a", value: "x\u2028y", line: 1 },
      { key: "s.b", value: "\u2029", line: 4 },
    ]);
  });

  test("names that objects have of their own are names like others", () => {
    expect(read("__proto__ = 1\nconstructor.a = 2")).toEqual([
      { key: "__proto__", value: 1, line: 1 },
      { key: "constructor.a", value: 2, line: 2 },
    ]);
  });

  test("any text gives entries or a failure that names a line", () => {
    const piece = fc.constantFrom(..."[]a.=\"'\\1#,\n {}");
    fc.assert(fc.property(fc.array(piece), (pieces) => {
      try {
        for (const { line } of parseToml(pieces.join(""))) expect(line()).toBeGreaterThan(0);
      } catch (cause) {
        expect(cause).toBeInstanceOf(Failure);
        expect((cause as Failure).message).toMatch(/line \d+ of the config file/);
      }
    }));
  });

  test("a list is one whole list, and nothing besides", () => {
    expect(parseList(`["a", 'b']`)).toEqual(["a", "b"]);
    for (const text of ["", "a", '"a"', '["a"', '["a"] x', '["a"]\nb = 1', "[a]"]) {
      expect(parseList(text), text).toBeUndefined();
    }
  });
});

describe("what is refused", () => {
  test.each([
    ["text without quotes", "a = 10m", 1],
    ["a value that is missing", "x = 1\na =", 2],
    ["two values", "a = 1 2", 1],
    ["a leading zero", "a = 01", 1],
    ["an integer that would be rounded", "a = 9007199254740993", 1],
    ["a text that does not end", 'x = 1\n\na = "b', 3],
    ["an unknown escape", '[s]\na = "\\q"', 2],
    ["half a character", 'a = "\\ud800"', 1],
    ["a list without commas", 'a = ["b" "c"]', 1],
    ["a line that is nothing", "a", 1],
    ["a key given twice", "[s]\na = 1\na = 2", 3],
    ["a section given twice", "[s]\n[s]", 2],
    ["a key that is a section already", "[s.t]\n[s]\nt = 1", 3],
  ])("%s", (_, text, line) => {
    expect(() => parseToml(text)).toThrow(`Cannot read line ${line} of the config file: `);
  });

  test("without showing the line, which may hold a secret", () => {
    const refused = () => parseToml('auth-token = "hunter2');
    expect(refused).toThrow(/^[^\n]+ at column \d+$/);
    expect(refused).not.toThrow(/hunter2/);
  });
});
