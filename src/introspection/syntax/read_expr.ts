import type { Cursor } from "./cursor.ts";
import type { BinaryOperator, Expr } from "./ast.ts";
import { readAtom } from "./read_atom.ts";
import { readBetween, readIn, readIs, readLike } from "./read_predicate.ts";
import { isQueryHere, readQuery } from "./read_query.ts";

/**
 * How tightly operators bind, as in PostgreSQL (PostgreSQL's manual, section 4.1.6). OTHER: what
 * has no rank of its own, such as `||` and `->>`.
 */
export const LEVEL = {
  or: 1,
  and: 2,
  not: 3,
  is: 4,
  comparison: 5,
  predicate: 6,
  other: 7,
  sum: 8,
  product: 9,
  sign: 10,
} as const;

const OPERATORS: ReadonlyMap<string, readonly [BinaryOperator, number]> = new Map([
  ["=", ["=", LEVEL.comparison]],
  ["==", ["=", LEVEL.comparison]],
  ["<>", ["<>", LEVEL.comparison]],
  ["!=", ["<>", LEVEL.comparison]],
  ["<", ["<", LEVEL.comparison]],
  ["<=", ["<=", LEVEL.comparison]],
  [">", [">", LEVEL.comparison]],
  [">=", [">=", LEVEL.comparison]],
  ["||", ["||", LEVEL.other]],
  ["->", ["->", LEVEL.other]],
  ["->>", ["->>", LEVEL.other]],
  ["&", ["&", LEVEL.other]],
  ["|", ["|", LEVEL.other]],
  ["<<", ["<<", LEVEL.other]],
  [">>", [">>", LEVEL.other]],
  ["+", ["+", LEVEL.sum]],
  ["-", ["-", LEVEL.sum]],
  ["*", ["*", LEVEL.product]],
  ["/", ["/", LEVEL.product]],
  ["%", ["%", LEVEL.product]],
]);

/** What ends an expression, if a symbol does. */
const ENDS: ReadonlySet<string> = new Set([")", "]", ",", ":", "=>", ";", "(", ".", "[", "::"]);
const QUANTIFIERS: ReadonlySet<string> = new Set(["any", "some", "all"]);

/**
 * An expression, as long as its operators bind at least as tightly as `least`. Throws a `Failure` 400
 * for what is none and for what we cannot do.
 */
export function readExpr(cursor: Cursor, least: number = LEVEL.or): Expr {
  return cursor.nested(() => {
    let expr = readOperand(cursor);
    for (;;) {
      const longer = cursor.peek().kind === "symbol"
        ? readSymbol(cursor, expr, least)
        : readWord(cursor, expr, least);
      if (!longer) return expr;
      expr = longer;
    }
  });
}

/** Any expression. For lists of them. */
export function readAny(cursor: Cursor): Expr {
  return readExpr(cursor);
}

function readOperand(cursor: Cursor): Expr {
  if (cursor.takeWords("not")) {
    return { kind: "unary", operator: "not", of: readExpr(cursor, LEVEL.not) };
  }
  for (const operator of ["-", "+"] as const) {
    if (cursor.takeSymbol(operator)) {
      return { kind: "unary", operator, of: readExpr(cursor, LEVEL.sign) };
    }
  }
  return readAtom(cursor);
}

function readSymbol(cursor: Cursor, left: Expr, least: number): Expr | undefined {
  const { text } = cursor.peek();
  const [operator, level] = OPERATORS.get(text) ?? [];
  if (!operator || !level) {
    if (ENDS.has(text)) return undefined;
    throw cursor.unsupported(`the operator ${text}`);
  }
  if (level < least) return undefined;
  cursor.next();
  if (cursor.isWord(QUANTIFIERS) && cursor.isSymbol("(", 1)) {
    return readQuantified(cursor, left, operator);
  }
  return { kind: "binary", operator, left, right: readExpr(cursor, level + 1) };
}

/** `x = any(list)` is a function of a list; of a query it is IN. */
function readQuantified(cursor: Cursor, left: Expr, operator: BinaryOperator): Expr {
  if (operator !== "=" || cursor.isWord("all")) {
    throw cursor.unsupported(`${operator} ${cursor.peek().text.toUpperCase()}`);
  }
  cursor.next();
  return cursor.parens((): Expr => {
    if (isQueryHere(cursor)) {
      return { kind: "inQuery", not: false, of: left, query: readQuery(cursor) };
    }
    return {
      kind: "call",
      name: "array_has",
      args: [readExpr(cursor), left],
      star: false,
      distinct: false,
      orderBy: [],
    };
  });
}

function readWord(cursor: Cursor, left: Expr, least: number): Expr | undefined {
  const { kind, text } = cursor.peek();
  if (kind !== "word") return undefined;
  switch (text) {
    case "or":
    case "and":
      if (LEVEL[text] < least) return undefined;
      cursor.next();
      return { kind: "binary", operator: text, left, right: readExpr(cursor, LEVEL[text] + 1) };
    case "is":
    case "isnull":
    case "notnull":
      return LEVEL.is < least ? undefined : readIs(cursor, left);
    case "collate":
      throw cursor.unsupported("COLLATE");
    case "at":
      if (cursor.isWord("time", 1)) throw cursor.unsupported("AT TIME ZONE");
      return undefined;
    default:
      return readPredicate(cursor, left, least);
  }
}

/** What may have NOT before it. */
function readPredicate(cursor: Cursor, left: Expr, least: number): Expr | undefined {
  const not = cursor.isWord("not");
  const { kind, text } = cursor.peek(not ? 1 : 0);
  if (kind !== "word") return undefined;
  const read = { in: readIn, like: readLike, ilike: readLike, between: readBetween }[text];
  if (!read) {
    if (text === "similar") throw cursor.unsupported("SIMILAR TO");
    return undefined;
  }
  if (LEVEL.predicate < least) return undefined;
  if (not) cursor.next();
  return read(cursor, left, not);
}
