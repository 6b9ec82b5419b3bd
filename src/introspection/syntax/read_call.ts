import type { Call, Expr, Window } from "./ast.ts";
import type { Cursor } from "./cursor.ts";
import { LEVEL, readAny, readExpr } from "./read_expr.ts";
import { readSorts } from "./read_query.ts";

const NO_ARGS = { args: [], star: false, distinct: false, orderBy: [] } as const;

/** A function with its arguments, behind its name. Throws a `Failure` 400 for what we cannot do. */
export function readCall(cursor: Cursor, path: readonly string[]): Call {
  const [name = "", ...more] = path;
  if (more.length > 0) throw cursor.unsupported("a function with a path");
  const args = cursor.parens(readArgs);
  if (cursor.isWord("within")) throw cursor.unsupported("WITHIN GROUP");
  readNulls(cursor);
  const filter = readFilter(cursor);
  const over = cursor.takeWords("over") ? readOver(cursor) : undefined;
  return {
    kind: "call",
    name: name.toLowerCase(),
    ...args,
    ...(filter && { filter }),
    ...(over && { over }),
  };
}

/** `extract(unit from time)`, which is `date_part('unit', time)`. */
export function readExtract(cursor: Cursor): Call {
  cursor.next();
  return cursor.parens((): Call => {
    if (!cursor.isName() && cursor.peek().kind !== "text") throw cursor.unexpected();
    const literal = { type: "text", value: cursor.next().text.toLowerCase() } as const;
    cursor.expectWord("from");
    const args = [{ kind: "literal", literal } as const, readExpr(cursor)];
    return { kind: "call", name: "date_part", ...NO_ARGS, args };
  });
}

/** `position(part in text)`: a function of the text and the part, in this order. */
export function readPosition(cursor: Cursor): Call {
  cursor.next();
  return cursor.parens((): Call => {
    const part = readExpr(cursor, LEVEL.other);
    if (!cursor.takeWords("in")) throw cursor.unsupported("POSITION of anything but `a IN b`");
    return { kind: "call", name: "position", ...NO_ARGS, args: [readExpr(cursor), part] };
  });
}

function readArgs(cursor: Cursor): Pick<Call, keyof typeof NO_ARGS> {
  if (cursor.isSymbol(")")) return NO_ARGS;
  if (cursor.takeSymbol("*")) return { ...NO_ARGS, star: true };
  const distinct = cursor.takeWords("distinct");
  if (!distinct) cursor.takeWords("all");
  const args = cursor.list(readArg);
  const orderBy = cursor.takeClause("order") ? readSorts(cursor) : [];
  readNulls(cursor);
  if (cursor.isWord("limit") || cursor.isWord("having")) {
    throw cursor.unsupported("LIMIT or HAVING within a function");
  }
  return { args, star: false, distinct, orderBy };
}

function readArg(cursor: Cursor): Expr {
  const arg = readExpr(cursor);
  if (cursor.isSymbol("=>") || cursor.isSymbol(":=")) throw cursor.unsupported("a named argument");
  if (cursor.isWord("from") || cursor.isWord("for")) {
    throw cursor.unsupported("FROM or FOR between the arguments of a function");
  }
  return arg;
}

/** That nulls count is what is done anyhow. */
function readNulls(cursor: Cursor): void {
  if (cursor.isWord("ignore") && cursor.isWord("nulls", 1)) {
    throw cursor.unsupported("IGNORE NULLS");
  }
  cursor.takeWords("respect", "nulls");
}

function readFilter(cursor: Cursor): Expr | undefined {
  if (!cursor.isWord("filter") || !cursor.isSymbol("(", 1)) return undefined;
  cursor.next();
  return cursor.parens(() => {
    cursor.expectWord("where");
    return readExpr(cursor);
  });
}

const FRAMES: ReadonlySet<string> = new Set(["rows", "range", "groups"]);

function readOver(cursor: Cursor): Window {
  if (cursor.isName()) throw cursor.unsupported("a named window");
  return cursor.parens((): Window => {
    const partitionBy = cursor.takeClause("partition") ? cursor.list(readAny) : [];
    const orderBy = cursor.takeClause("order") ? readSorts(cursor) : [];
    const frame = cursor.isWord(FRAMES) ? readFrame(cursor) : undefined;
    if (cursor.isWord("exclude")) throw cursor.unsupported("EXCLUDE within a window");
    if (cursor.isName()) throw cursor.unsupported("a named window");
    return { partitionBy, orderBy, ...(frame && { frame }) };
  });
}

function readFrame(cursor: Cursor): string {
  const unit = cursor.next().text;
  if (!cursor.takeWords("between")) return `${unit} ${readBound(cursor)}`;
  const begin = readBound(cursor);
  cursor.expectWord("and");
  return `${unit} between ${begin} and ${readBound(cursor)}`;
}

function readBound(cursor: Cursor): string {
  if (cursor.takeWords("current", "row")) return "current row";
  const { kind, text } = cursor.next();
  const isBound = kind === "word" ? text === "unbounded" : kind === "number";
  if (!isBound || (kind === "number" && !/^\d{1,15}$/.test(text))) {
    throw cursor.unsupported("such a window frame");
  }
  for (const side of ["preceding", "following"]) {
    if (cursor.takeWords(side)) return `${text} ${side}`;
  }
  throw cursor.unexpected();
}
