import type { Expr } from "./ast.ts";
import type { Cursor } from "./cursor.ts";
import { RESERVED, TAIL_WORDS } from "./keywords.ts";
import { readCall, readExtract, readPosition } from "./read_call.ts";
import { readExpr } from "./read_expr.ts";
import { readNamedLiteral } from "./read_literal.ts";
import { continueQuery, isQueryHere, readQuery } from "./read_query.ts";
import { readType } from "./read_type.ts";

/** What an operator stands beside, with its subscripts and `::`. */
export function readAtom(cursor: Cursor): Expr {
  let expr = readPlain(cursor);
  for (;;) {
    if (cursor.takeSymbol("::")) expr = { kind: "cast", of: expr, to: readType(cursor) };
    else if (cursor.isSymbol("[")) expr = readSubscript(cursor, expr);
    else if (cursor.isSymbol(".")) throw cursor.unsupported("a field of a value");
    else return expr;
  }
}

function readSubscript(cursor: Cursor, of: Expr): Expr {
  cursor.expectSymbol("[");
  if (cursor.isSymbol(":")) throw cursor.unsupported("a slice of an array");
  const index = readExpr(cursor);
  if (cursor.isSymbol(":")) throw cursor.unsupported("a slice of an array");
  cursor.expectSymbol("]");
  return { kind: "subscript", of, index };
}

function readPlain(cursor: Cursor): Expr {
  const { kind, text } = cursor.peek();
  switch (kind) {
    case "text":
    case "number":
      cursor.next();
      return { kind: "literal", literal: { type: kind, value: text } };
    case "bytes":
      cursor.next();
      return { kind: "literal", literal: { type: "bytes", value: bytesOf(text) } };
    case "word":
      return readWord(cursor, text);
    case "name":
      return readNamed(cursor);
    default:
      if (text === "(") return readParens(cursor);
      if (text === "?" || text === "@" || text === ":") throw cursor.unsupported("a parameter");
      throw cursor.unexpected();
  }
}

function bytesOf(digits: string): number[] {
  return (digits.match(/../g) ?? []).map((pair) => parseInt(pair, 16));
}

/** What begins with a word: a constant, a construct of its own, a function or a column. */
function readWord(cursor: Cursor, word: string): Expr {
  const isCall = cursor.isSymbol("(", 1);
  switch (word) {
    case "null":
      cursor.next();
      return { kind: "literal", literal: { type: "null" } };
    case "true":
    case "false":
      cursor.next();
      return { kind: "literal", literal: { type: "bool", value: word === "true" } };
    case "case":
      return readCase(cursor);
    case "cast":
      return readCast(cursor);
    case "exists":
      cursor.next();
      return { kind: "exists", query: cursor.parens(readQuery) };
    case "extract":
      return isCall ? readExtract(cursor) : readNamed(cursor);
    case "position":
      return isCall ? readPosition(cursor) : readNamed(cursor);
    case "try_cast":
    case "safe_cast":
    case "row":
      if (!isCall) return readNamed(cursor);
      throw cursor.unsupported(word.toUpperCase());
    case "array":
      if (cursor.isSymbol("[", 1) || isCall) throw cursor.unsupported("ARRAY");
      return readNamed(cursor);
    default:
      return readNamedLiteral(cursor) ?? readNamed(cursor);
  }
}

/** A column, or a function with its arguments. Keywords may be functions: `left('abc', 1)`. */
function readNamed(cursor: Cursor): Expr {
  if (cursor.isWord(RESERVED) && !cursor.isSymbol("(", 1)) throw cursor.unexpected();
  if (cursor.isWord("select")) throw cursor.unexpected();
  const path = readPath(cursor);
  return cursor.isSymbol("(") ? readCall(cursor, path) : { kind: "column", path };
}

/** The names in `a.b.c`. Throws a `Failure` 400 for anything else. */
export function readPath(cursor: Cursor): readonly string[] {
  const path = [cursor.expectName()];
  while (cursor.takeSymbol(".")) path.push(cursor.expectName());
  return path;
}

/** Only behind `((` a query may go on that began as an expression: `((select 1) union select 2)`. */
function readParens(cursor: Cursor): Expr {
  return cursor.parens((): Expr => {
    if (isQueryHere(cursor)) return { kind: "scalar", query: readQuery(cursor) };
    const expr = readExpr(cursor);
    if (cursor.isSymbol(",")) throw cursor.unsupported("a row of values");
    if (expr.kind !== "scalar" || !cursor.isWord(TAIL_WORDS)) return expr;
    return { kind: "scalar", query: continueQuery(cursor, expr.query) };
  });
}

function readCase(cursor: Cursor): Expr {
  cursor.expectWord("case");
  const of = cursor.isWord("when") ? undefined : readExpr(cursor);
  const whens: { when: Expr; then: Expr }[] = [];
  do {
    cursor.expectWord("when");
    const when = readExpr(cursor);
    cursor.expectWord("then");
    whens.push({ when, then: readExpr(cursor) });
  } while (cursor.isWord("when"));
  const otherwise = cursor.takeWords("else") ? readExpr(cursor) : undefined;
  cursor.expectWord("end");
  return { kind: "case", ...(of && { of }), whens, ...(otherwise && { otherwise }) };
}

function readCast(cursor: Cursor): Expr {
  cursor.expectWord("cast");
  return cursor.parens((): Expr => {
    const of = readExpr(cursor);
    cursor.expectWord("as");
    return { kind: "cast", of, to: readType(cursor) };
  });
}
