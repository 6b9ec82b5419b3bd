import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Failure } from "../../src/errors.ts";
import type { Expr, Query, Select, Source } from "../../src/introspection/syntax/ast.ts";
import { readStatement } from "../../src/introspection/syntax/read_statement.ts";

/** The query of a statement. */
function queryOf(sql: string): Query {
  const statement = readStatement(sql);
  if (statement.kind !== "query") throw new Error(`${statement.kind}: ${sql}`);
  return statement.query;
}

function selectOf(sql: string): Select {
  const { body } = queryOf(sql);
  if (body.kind !== "select") throw new Error(`${body.kind}: ${sql}`);
  return body;
}

function exprOf(sql: string): Expr {
  const [column] = selectOf(`select ${sql}`).columns;
  if (column?.kind !== "one") throw new Error(sql);
  return column.expr;
}

/** An expression with all its parentheses. */
function shown(expr: Expr): string {
  switch (expr.kind) {
    case "column":
      return expr.path.join(".");
    case "literal":
      return "value" in expr.literal ? String(expr.literal.value) : "null";
    case "unary":
      return `(${expr.operator} ${shown(expr.of)})`;
    case "binary":
      return `(${shown(expr.left)} ${expr.operator} ${shown(expr.right)})`;
    case "is":
      return `(${shown(expr.of)} is${expr.not ? " not" : ""} ${expr.what})`;
    case "like":
      return `(${shown(expr.of)} like ${shown(expr.pattern)})`;
    case "between":
      return `(${shown(expr.of)} between ${shown(expr.low)} and ${shown(expr.high)})`;
    case "in":
      return `(${shown(expr.of)} in ${expr.list.map(shown).join()})`;
    case "cast":
      return `(${shown(expr.of)} as ${expr.to})`;
    case "subscript":
      return `(${shown(expr.of)} at ${shown(expr.index)})`;
    default:
      return expr.kind;
  }
}

function sourceOf(source: Source): string {
  if (source.kind === "derived") return "query";
  if (source.kind === "table") return source.path.join(".");
  return `(${sourceOf(source.left)} ${source.how} ${sourceOf(source.right)})`;
}

function setsOf({ body }: Query): string {
  if (body.kind !== "compound") return body.kind;
  return `(${setsOf(body.left)} ${body.operator} ${setsOf(body.right)})`;
}

describe("how tightly things bind", () => {
  test.each([
    ["a or b and not c = d", "(a or (b and (not (c = d))))"],
    ["a = b is true", "((a = b) is true)"],
    ["not a is null", "(not (a is null))"],
    ["a = b in (1, 2)", "(a = (b in 1,2))"],
    ["a -> 'b' ->> 'c' like '%d%'", "(((a -> b) ->> c) like %d%)"],
    ["a || b + c * -d", "(a || (b + (c * (- d))))"],
    ["a - b - c", "((a - b) - c)"],
    ["-1::text", "(- (1 as text))"],
    ["a between 1 and 2 + 3 and c", "((a between 1 and (2 + 3)) and c)"],
    ["a == b <> c", "((a = b) <> c)"],
    ["a.b[1]::character varying(3)", "((a.b at 1) as character varying)"],
    ["a is not distinct from b and c", "((a is not distinct from b) and c)"],
    ["(a or b) and c", "((a or b) and c)"],
    ["((a)) notnull", "(a is not null)"],
  ])("%s", (sql, expected) => expect(shown(exprOf(sql))).toBe(expected));

  test.each([
    ["select 1 union select 2 intersect select 3", "(select union (select intersect select))"],
    ["select 1 union all select 2 except select 3", "((select union all select) except select)"],
    ["select 1 union (select 2 except select 3)", "(select union (select except select))"],
    ["((select 1) union select 2) order by 1", "nested"],
  ])("%s", (sql, expected) => expect(setsOf(queryOf(sql))).toBe(expected));

  test.each([
    ["a, b join c on x left join d using (y)", "(a cross ((b inner c) left d))"],
    ["a natural full outer join (b cross join c)", "(a full (b cross c))"],
    ["((select 1) union select 2) x", "query"],
    ["(values (1, 2))", "query"],
  ])("from %s", (sql, expected) => {
    const { from } = selectOf(`select 1 from ${sql}`);
    expect(from && sourceOf(from)).toBe(expected);
  });
});

describe("words", () => {
  test.each(["index", "key", "value", "filter", "over", "date", "interval", "first", "position"])(
    "%s is a column and an alias like any other",
    (word) => {
      const { columns } = selectOf(`select t.${word}, ${word} ${word} from t order by ${word}`);
      expect(columns).toEqual([
        { kind: "one", expr: { kind: "column", path: ["t", word] } },
        { kind: "one", expr: { kind: "column", path: [word] }, alias: word },
      ]);
    },
  );

  test("names are lower case unless they are quoted", () => {
    expect(exprOf(`A."B""c".İ`)).toEqual({ kind: "column", path: ["a", 'B"c', "İ".toLowerCase()] });
  });

  test("texts", () => {
    for (
      const [sql, value] of [
        ["'it''s'", "it's"],
        ["'a\\nb -- /* '", "a\\nb -- /* "],
        ["E'a\\nb\\'c''d\\\\'", "a\nb'c'd\\"],
        ["$$a'b$$", "a'b"],
        ["$x$ $$ $x$", " $$ "],
      ] as const
    ) {
      expect(exprOf(sql)).toEqual({ kind: "literal", literal: { type: "text", value } });
    }
  });

  test("comments and semicolons around", () => {
    expect(exprOf("1 -- 2\n /* 3 /* 4 */ ; */ ;; -- 5")).toEqual(exprOf("1"));
    expect(queryOf(" ; select 1")).toEqual(queryOf("select 1"));
  });

  test("intervals and times", () => {
    expect(exprOf("interval '1' day")).toEqual({ kind: "interval", text: "1 day" });
    expect(exprOf("INTERVAL '1 hour 5 minutes'").kind).toBe("interval");
    expect(exprOf("timestamp '2020-01-01'")).toEqual({ kind: "timestamp", text: "2020-01-01" });
  });

  test("other statements", () => {
    expect(readStatement("show tables;")).toEqual({ kind: "showTables" });
    for (const sql of ["desc a.b", "DESCRIBE table a.b"]) {
      expect(readStatement(sql)).toEqual({ kind: "describe", path: ["a", "b"] });
    }
    expect(readStatement("show columns in a.b"))
      .toEqual({ kind: "describe", path: ["a", "b"], isShow: true });
    expect(readStatement("explain analyze select 1").kind).toBe("explain");
  });
});

test.each([
  ["selec 1", 'Cannot parse the query: Unexpected "selec" at line 1, column 1'],
  ["select a,\n  from t", 'Cannot parse the query: Unexpected "from" at line 2, column 3'],
  ["select (1", "Cannot parse the query: Unexpected end at line 1, column 10"],
  ["select 'a", "Cannot parse the query: A text does not end at line 1, column 8"],
  ["select 1 /* /* */", "Cannot parse the query: A comment does not end at line 1, column 10"],
  [
    "select a ~ 'b'",
    "Cannot run the query: the operator ~ is not supported here (line 1, column 10)",
  ],
  ["select $1", "Cannot run the query: a parameter is not supported here (line 1, column 8)"],
  [
    "select f(a) from t\nfor update",
    "Cannot run the query: the FOR clause is not supported here (line 2, column 1)",
  ],
  ["vacuum", "Cannot run the query: it is VACUUM, only SELECT, SHOW and DESCRIBE are allowed"],
  ["select 1; select 2", "Cannot run the query: only a single statement is supported"],
  [" -- nothing", "Cannot run the query: there is no statement in it"],
  [`select ${"(".repeat(300)}1`, "Cannot run the query: it is nested too deep"],
])("%s is refused and says where", (sql, message) => {
  expect(() => readStatement(sql)).toThrow(message);
});

/** What statements are made of, and what they are not. */
const PIECES =
  `select from where a b t . , ( ) [ ] ' " $$ -- /* */ ; 1 1.5 'x' "y" + - * / = <> like in
  is not null and or union with as case when then else end order by limit join on :: cast interval
  over filter exists between ? \\ é \u0000 \ud800 describe show values`.split(/\s+/);

test("whatever the text, it is read or refused", () => {
  const texts = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((all) => all.join(" "));
  const all = fc.oneof(texts, fc.string({ unit: "binary" }));
  fc.assert(fc.property(all, tryToRead), { numRuns: 2000 });
});

/** Throws nothing but what refuses it. */
function tryToRead(sql: string): void {
  try {
    readStatement(sql);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
  }
}

test("the longest statements are read in no time, or refused", () => {
  const began = performance.now();
  for (
    const one of ["(", "- ", "'", '"', "$", "/*", "a.", "1+", "a,", ";", "case when ", "a or "]
  ) {
    const sql = `select ${one.repeat(250_000 / one.length)}`;
    tryToRead(sql);
  }
  const list = Array.from({ length: 6000 }, (_, i) => `'inv_${i}_${"x".repeat(30)}'`).join();
  expect(exprOf(`id in (${list})`).kind).toBe("in");
  expect(performance.now() - began).toBeLessThan(5000);
});
