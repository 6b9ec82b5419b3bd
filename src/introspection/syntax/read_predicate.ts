import type { Expr } from "./ast.ts";
import type { Cursor } from "./cursor.ts";
import { LEVEL, readAny, readExpr } from "./read_expr.ts";
import { isQueryHere, readQuery } from "./read_query.ts";

/** `IS [NOT] …`, ISNULL, NOTNULL, behind `of`. Throws a `Failure` 400 for what we cannot do. */
export function readIs(cursor: Cursor, of: Expr): Expr {
  if (cursor.takeWords("isnull")) return { kind: "is", not: false, what: "null", of };
  if (cursor.takeWords("notnull")) return { kind: "is", not: true, what: "null", of };
  cursor.expectWord("is");
  const not = cursor.takeWords("not");
  for (const what of ["null", "true", "false"] as const) {
    if (cursor.takeWords(what)) return { kind: "is", not, what, of };
  }
  if (cursor.takeWords("unknown")) return { kind: "is", not, what: "null", of };
  if (!cursor.takeWords("distinct", "from")) {
    throw cursor.unsupported("IS with anything but a constant");
  }
  const operator = not ? "is not distinct from" : "is distinct from";
  return { kind: "binary", operator, left: of, right: readExpr(cursor, LEVEL.comparison) };
}

/** `IN (…)`, of values or a query. */
export function readIn(cursor: Cursor, of: Expr, not: boolean): Expr {
  cursor.expectWord("in");
  if (!cursor.isSymbol("(")) throw cursor.unsupported("IN without parentheses");
  return cursor.parens((): Expr => {
    if (isQueryHere(cursor)) return { kind: "inQuery", not, of, query: readQuery(cursor) };
    const list = cursor.list(readAny);
    const [only] = list;
    if (list.length === 1 && only?.kind === "scalar") {
      return { kind: "inQuery", not, of, query: only.query };
    }
    return { kind: "in", not, of, list };
  });
}

/** `LIKE` and `ILIKE`, with or without ESCAPE. */
export function readLike(cursor: Cursor, of: Expr, not: boolean): Expr {
  const ignoreCase = cursor.next().text === "ilike";
  const pattern = readExpr(cursor, LEVEL.other);
  const like = { kind: "like", not, ignoreCase, of, pattern } as const;
  if (!cursor.takeWords("escape")) return like;
  const { kind, text } = cursor.peek();
  if (kind !== "text" || [...text].length !== 1) {
    throw cursor.unsupported("ESCAPE with anything but one character");
  }
  cursor.next();
  return { ...like, escape: text };
}

/** `BETWEEN low AND high`. */
export function readBetween(cursor: Cursor, of: Expr, not: boolean): Expr {
  cursor.expectWord("between");
  if (cursor.isWord("symmetric")) throw cursor.unsupported("BETWEEN SYMMETRIC");
  cursor.takeWords("asymmetric");
  const low = readExpr(cursor, LEVEL.other);
  cursor.expectWord("and");
  return { kind: "between", not, of, low, high: readExpr(cursor, LEVEL.other) };
}
