import { refused } from "../refusal.ts";
import type { Statement } from "./ast.ts";
import { Cursor } from "./cursor.ts";
import { OTHER_STATEMENTS } from "./keywords.ts";
import { readPath } from "./read_atom.ts";
import { isQueryHere, readQuery } from "./read_query.ts";
import { type Token, tokenize } from "./token.ts";

/** The largest statement that is parsed, in characters: a list of some thousand ids fits. */
export const STATEMENT_CHARS_MAX = 256 * 1024;

/**
 * The one statement in a text. Throws a `Failure`: 400 for what is no SQL, may not be asked, or is
 * several statements (docs/spec/queries.md#statements). Takes time in proportion to the length of
 * the text.
 */
export function readStatement(sql: string): Statement {
  if (sql.length > STATEMENT_CHARS_MAX) {
    throw refused(`Cannot run the query: it is longer than ${STATEMENT_CHARS_MAX} characters`);
  }
  const cursor = new Cursor(sql, onlyStatement(tokenize(sql)));
  const statement = readOne(cursor);
  if (cursor.peek().kind !== "end") throw cursor.unexpected();
  return statement;
}

/** What is left without semicolons, which may stand before and behind a statement. */
function onlyStatement(tokens: readonly Token[]): readonly Token[] {
  const isBreak = ({ kind, text }: Token) => kind === "symbol" && text === ";";
  const rest = tokens.filter((token) => !isBreak(token));
  if (rest.length <= 1) throw refused("Cannot run the query: there is no statement in it");
  const begin = tokens.findIndex((token) => !isBreak(token));
  if (tokens.slice(begin, begin + rest.length - 1).some(isBreak)) {
    throw refused("Cannot run the query: only a single statement is supported");
  }
  return rest;
}

function readOne(cursor: Cursor): Statement {
  if (isQueryHere(cursor) || cursor.isSymbol("(")) {
    return { kind: "query", query: readQuery(cursor) };
  }
  if (cursor.takeWords("describe") || cursor.takeWords("desc")) return readDescribe(cursor);
  if (cursor.takeWords("show")) return readShow(cursor);
  if (cursor.takeWords("explain")) return readExplain(cursor);
  if (!cursor.isWord(OTHER_STATEMENTS)) throw cursor.unexpected();
  const what = cursor.peek().text.toUpperCase();
  throw refused(
    `Cannot run the query: it is ${what}, only SELECT, SHOW and DESCRIBE are allowed`,
  );
}

function readDescribe(cursor: Cursor): Statement & { readonly kind: "describe" } {
  if (isQueryHere(cursor) && !cursor.isWord("table")) {
    throw cursor.unsupported("DESCRIBE of anything but a table");
  }
  cursor.takeWords("table");
  return { kind: "describe", path: readPath(cursor) };
}

function readShow(cursor: Cursor): Statement {
  if (cursor.takeWords("tables")) return { kind: "showTables" };
  if (cursor.takeWords("columns", "from") || cursor.takeWords("columns", "in")) {
    return { ...readDescribe(cursor), isShow: true };
  }
  throw cursor.unsupported("SHOW of anything but TABLES and COLUMNS");
}

/** Nothing is run, whatever else is asked for. */
function readExplain(cursor: Cursor): Statement {
  cursor.takeWords("analyze");
  cursor.takeWords("verbose");
  if (!isQueryHere(cursor) && !cursor.isSymbol("(")) {
    throw cursor.unsupported("EXPLAIN of anything but a query");
  }
  return { kind: "explain", query: readQuery(cursor) };
}
