import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJson } from "../../src/ui/data/json.ts";
import { complete, type Tables } from "../../src/ui/pages/sql/completion.ts";
import { columnsOf, csvOf, textOf } from "../../src/ui/pages/sql/run.ts";
import { tokensOf } from "../../src/ui/pages/sql/tokens.ts";

const TABLES: Tables = new Map([
  ["state", [{ name: "key", type: "LargeUtf8" }, { name: "value", type: "LargeBinary" }]],
  ["sys_inbox", [{ name: "id", type: "LargeUtf8" }]],
]);

/** What is offered at the bar in a statement. */
function offered(marked: string): string[] {
  const at = marked.indexOf("|");
  return complete(marked.replace("|", ""), at, TABLES).suggestions.map(({ text }) => text);
}

const text = fc.oneof(
  fc.string(),
  fc.array(fc.constantFrom("'", '"', "--", "/*", "*/", "\n", "SELECT", " ", ".", "1e5", "a"))
    .map((parts) => parts.join("")),
);

describe("a statement that is typed", () => {
  test("is colored without a change of its text", () => {
    fc.assert(fc.property(text, (one) => {
      expect(tokensOf(one).map((token) => token.text).join("")).toBe(one);
    }));
    expect(tokensOf("SELECT 'it''s' -- x").map(({ kind }) => kind))
      .toEqual(["keyword", "other", "string", "other", "comment"]);
  });

  test("is completed by tables, columns of its tables, functions and keywords", () => {
    expect(offered("SELECT * FROM s|")).toEqual(["state", "sys_inbox"]);
    expect(offered("SELECT k| FROM state")).toEqual(["key"]);
    expect(offered("SELECT s.v| FROM state AS s, sys_inbox")).toEqual(["value"]);
    expect(offered("SELECT s.| FROM state s")).toEqual(["key", "value"]);
    expect(offered("SELECT cou|")).toEqual(["count("]);
    expect(offered("sel|")).toEqual(["SELECT"]);
    for (const nothing of ["SELECT 'k|' FROM state", "-- k| FROM state", "SELECT 1|", "|"]) {
      expect(offered(nothing), nothing).toEqual([]);
    }
  });

  test("is completed at any place of any text", () => {
    fc.assert(fc.property(text, fc.nat(), (one, at) => {
      complete(one, at % (one.length + 1), TABLES);
    }));
  });
});

describe("rows of an answer", () => {
  test("have their columns in the order of the statement, where some are null", () => {
    expect(columnsOf([{ a: 1, c: 1 }, { b: 1, c: 1 }, { a: 1, b: 1, c: 1, d: 1 }]))
      .toEqual(["b", "a", "c", "d"]);
    expect(columnsOf([{ a: 1, b: 1 }, { a: 1, x: 1, b: 1 }])).toEqual(["a", "x", "b"]);
  });

  test("are saved with every digit, quoted where CSV needs it", () => {
    const rows = parseJson('[{"n":18446744073709551615,"t":"a\\"b,c\\nd","l":[1]},{"n":-1}]');
    const columns = ["n", "t", "l"];
    const list = rows as Record<string, unknown>[];
    expect(csvOf({ rows: list, columns }))
      .toBe('n,t,l\r\n18446744073709551615,"a""b,c\nd",[1]\r\n-1,,\r\n');
    expect(textOf(null)).toBeUndefined();
  });
});
