import { refused } from "../refusal.ts";
import type { Body, CommonTable, Expr, Query, Sort } from "./ast.ts";
import type { Cursor } from "./cursor.ts";
import { QUERY_WORDS, SET_WORDS } from "./keywords.ts";
import { readAny, readExpr } from "./read_expr.ts";
import { readSelect } from "./read_select.ts";
import { readNames, readSource } from "./read_source.ts";

/** Clauses behind a body. */
type Tail = Pick<Query, "limit" | "offset"> & { orderBy?: readonly Sort[] };
type Operator = Extract<Body, { kind: "compound" }>["operator"];

/** Whether a query begins here, other than with a parenthesis. */
export function isQueryHere(cursor: Cursor): boolean {
  if (!cursor.isWord(QUERY_WORDS)) return false;
  return !cursor.isWord("values") || cursor.isSymbol("(", 1);
}

/** A query, with or without parentheses around it. Throws a `Failure` 400 for what we cannot do. */
export function readQuery(cursor: Cursor): Query {
  return cursor.nested(() => {
    const commons = cursor.takeWords("with") ? readCommons(cursor) : [];
    const body = readCompound(cursor, readTerm(cursor), 1);
    return finish(body, commons, readTail(cursor));
  });
}

/** A query whose first part, in parentheses, was read already. */
export function continueQuery(cursor: Cursor, first: Query): Query {
  const body = readCompound(cursor, { kind: "nested", query: first }, 1);
  return finish(body, [], readTail(cursor));
}

function finish(body: Body, commons: readonly CommonTable[], tail: Tail): Query {
  const isBare = commons.length === 0 && Object.keys(tail).length === 0;
  if (isBare && body.kind === "nested") return body.query;
  return { orderBy: [], ...tail, with: commons, body };
}

/** INTERSECT (2) binds tighter than UNION and EXCEPT (1). */
function readCompound(cursor: Cursor, first: Body, least: 1 | 2): Body {
  let body = first;
  while (cursor.isWord(SET_WORDS)) {
    const isTight = cursor.isWord("intersect");
    if (least === 2 && !isTight) return body;
    const operator = readOperator(cursor);
    const term = readTerm(cursor);
    const right = finish(isTight ? term : readCompound(cursor, term, 2), [], {});
    body = { kind: "compound", operator, left: finish(body, [], {}), right };
  }
  return body;
}

function readOperator(cursor: Cursor): Operator {
  const word = cursor.next().text;
  const all = cursor.takeWords("all");
  if (!all) cursor.takeWords("distinct");
  if (word === "union") return all ? "union all" : "union";
  if (all) throw cursor.unsupported(`${word.toUpperCase()} ALL`);
  return word === "except" ? "except" : "intersect";
}

/** One side of UNION and the like, or all that there is. */
function readTerm(cursor: Cursor): Body {
  if (cursor.isSymbol("(")) return { kind: "nested", query: cursor.parens(readQuery) };
  if (cursor.takeWords("values")) return { kind: "values", rows: cursor.list(readRow) };
  if (cursor.takeWords("table")) {
    const columns = [{ kind: "all" }] as const;
    return { kind: "select", distinct: false, columns, from: readSource(cursor), groupBy: [] };
  }
  cursor.expectWord("select");
  return readSelect(cursor);
}

function readRow(cursor: Cursor): readonly Expr[] {
  if (!cursor.isSymbol("(")) throw cursor.unsupported("a row of VALUES without parentheses");
  return cursor.parens(() => cursor.list(readAny));
}

function readCommons(cursor: Cursor): CommonTable[] {
  if (cursor.isWord("recursive")) throw cursor.unsupported("WITH RECURSIVE");
  return cursor.list(readCommon);
}

function readCommon(cursor: Cursor): CommonTable {
  const name = cursor.expectName();
  const columns = cursor.isSymbol("(") ? readNames(cursor) : [];
  cursor.expectWord("as");
  if (!cursor.takeWords("materialized")) cursor.takeWords("not", "materialized");
  const query = cursor.parens(() => {
    if (isQueryHere(cursor) || cursor.isSymbol("(")) return readQuery(cursor);
    throw cursor.unsupported("WITH around anything but a query");
  });
  return { name, columns, query };
}

function readTail(cursor: Cursor): Tail {
  const tail: { -readonly [K in keyof Tail]: Tail[K] } = {};
  if (cursor.takeClause("order")) tail.orderBy = readSorts(cursor);
  for (;;) {
    if (cursor.takeWords("limit")) {
      if (!cursor.takeWords("all")) tail.limit = readCount(cursor, "LIMIT");
    } else if (cursor.takeWords("offset")) {
      tail.offset = readCount(cursor, "OFFSET");
      if (!cursor.takeWords("rows")) cursor.takeWords("row");
    } else if (cursor.isWord("fetch") || cursor.isWord("for")) {
      throw cursor.unsupported(`the ${cursor.peek().text.toUpperCase()} clause`);
    } else {
      return tail;
    }
  }
}

/** The terms of an ORDER BY. */
export function readSorts(cursor: Cursor): Sort[] {
  return cursor.list((): Sort => {
    const expr = readExpr(cursor);
    if (cursor.isWord("using")) throw cursor.unsupported("ORDER BY … USING");
    const descending = cursor.takeWords("desc");
    if (!descending) cursor.takeWords("asc");
    if (cursor.takeWords("nulls", "first")) return { expr, descending, nulls: "first" };
    if (cursor.takeWords("nulls", "last")) return { expr, descending, nulls: "last" };
    return { expr, descending };
  });
}

function readCount(cursor: Cursor, what: "LIMIT" | "OFFSET"): number {
  const count = readExpr(cursor);
  const text = count.kind === "literal" && count.literal.type === "number"
    ? count.literal.value
    : "";
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw refused(`Cannot run the query: ${what} must be a number, 0 or more`);
}
