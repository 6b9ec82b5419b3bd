import type { Source } from "./ast.ts";
import type { Cursor } from "./cursor.ts";
import { RESERVED, TAIL_WORDS } from "./keywords.ts";
import { readPath } from "./read_atom.ts";
import { readExpr } from "./read_expr.ts";
import { continueQuery, isQueryHere, readQuery } from "./read_query.ts";

type Join = Extract<Source, { kind: "join" }>;

/** What stands after FROM. Throws a `Failure` 400 that names what we cannot do. */
export function readSource(cursor: Cursor): Source {
  let source = readJoins(cursor);
  while (cursor.takeSymbol(",")) {
    source = { kind: "join", how: "cross", left: source, right: readJoins(cursor) };
  }
  return source;
}

function readJoins(cursor: Cursor): Source {
  let source = readOne(cursor);
  for (;;) {
    const natural = cursor.takeWords("natural");
    const how = readHow(cursor);
    if (how) source = readJoin(cursor, { how, left: source, natural });
    else if (natural) throw cursor.unexpected();
    else return source;
  }
}

/** The words of a join, if one is here. */
function readHow(cursor: Cursor): Join["how"] | undefined {
  if (cursor.takeWords("join") || cursor.takeWords("inner", "join")) return "inner";
  if (cursor.takeWords("cross", "join")) return "cross";
  for (const how of ["left", "right", "full"] as const) {
    if (cursor.takeWords(how, "join") || cursor.takeWords(how, "outer", "join")) return how;
    if (cursor.isWord(how)) throw cursor.unsupported(`${how.toUpperCase()} with such a join`);
  }
  return undefined;
}

function readJoin(
  cursor: Cursor,
  { how, left, natural }: Pick<Join, "how" | "left"> & { readonly natural: boolean },
): Join {
  const join = { kind: "join", how, left, right: readOne(cursor) } as const;
  if (natural) return { ...join, using: "natural" };
  if (how === "cross") return join;
  if (cursor.takeWords("on")) return { ...join, on: readExpr(cursor) };
  if (cursor.takeWords("using")) return { ...join, using: readNames(cursor) };
  throw cursor.unsupported("a join without ON or USING");
}

/** Names in parentheses. */
export function readNames(cursor: Cursor): readonly string[] {
  return cursor.parens(() => cursor.list(() => cursor.expectName()));
}

/** A table or something in parentheses, with its alias. */
function readOne(cursor: Cursor): Source {
  const source = cursor.isSymbol("(") ? cursor.nested(() => readParens(cursor)) : readTable(cursor);
  if (cursor.isWord("tablesample")) throw cursor.unsupported("TABLESAMPLE");
  const alias = readAlias(cursor);
  if (alias === undefined) return source;
  if (source.kind === "join") throw cursor.unsupported("a name for a join");
  return { ...source, alias, columns: cursor.isSymbol("(") ? readNames(cursor) : [] };
}

/** A new name, with or without AS. */
export function readAlias(cursor: Cursor): string | undefined {
  if (cursor.takeWords("as")) return cursor.expectName();
  return cursor.isName() && !cursor.isWord(RESERVED) ? cursor.next().text : undefined;
}

function readTable(cursor: Cursor): Source {
  if (cursor.isWord("lateral")) throw cursor.unsupported("LATERAL");
  if (cursor.isWord(RESERVED)) throw cursor.unexpected();
  const path = readPath(cursor);
  if (cursor.isSymbol("(")) throw cursor.unsupported("a function after FROM");
  return { kind: "table", path, columns: [] };
}

/** Only behind `((` a query may go on that began as a table. */
function readParens(cursor: Cursor): Source {
  return cursor.parens((): Source => {
    if (isQueryHere(cursor)) return { kind: "derived", query: readQuery(cursor), columns: [] };
    const source = readSource(cursor);
    if (source.kind !== "derived" || !cursor.isWord(TAIL_WORDS)) return source;
    return { ...source, query: continueQuery(cursor, source.query) };
  });
}
