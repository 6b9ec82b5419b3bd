import type { Expr, Select, Selected } from "./ast.ts";
import type { Cursor } from "./cursor.ts";
import { readExpr } from "./read_expr.ts";
import { readAlias, readSource } from "./read_source.ts";

/** A SELECT, behind that word, up to its HAVING. Throws a `Failure` 400 for what we cannot do. */
export function readSelect(cursor: Cursor): Select {
  const distinct = readDistinct(cursor);
  const columns = cursor.list(readColumn);
  refuse(cursor, "into");
  const from = cursor.takeWords("from") ? readSource(cursor) : undefined;
  const where = cursor.takeWords("where") ? readExpr(cursor) : undefined;
  const groupBy = cursor.takeClause("group") ? readGroups(cursor) : [];
  const having = cursor.takeWords("having") ? readExpr(cursor) : undefined;
  refuse(cursor, "window");
  refuse(cursor, "qualify");
  return {
    kind: "select",
    distinct,
    columns,
    ...(from && { from }),
    ...(where && { where }),
    groupBy,
    ...(having && { having }),
  };
}

function refuse(cursor: Cursor, clause: string): void {
  if (cursor.isWord(clause)) throw cursor.unsupported(`the ${clause.toUpperCase()} clause`);
}

function readDistinct(cursor: Cursor): boolean {
  if (cursor.takeWords("all")) return false;
  if (!cursor.takeWords("distinct")) return false;
  if (cursor.isWord("on")) throw cursor.unsupported("DISTINCT ON");
  return true;
}

function readColumn(cursor: Cursor): Selected {
  const star = readStar(cursor);
  if (star) return star;
  const expr = readExpr(cursor);
  const alias = readAlias(cursor);
  return { kind: "one", expr, ...(alias !== undefined && { alias }) };
}

/** `*` or `t.*`, if one of them is here. */
function readStar(cursor: Cursor): Selected | undefined {
  let ahead = 0;
  while (cursor.isName(ahead) && cursor.isSymbol(".", ahead + 1)) ahead += 2;
  if (!cursor.isSymbol("*", ahead)) return undefined;
  if (ahead > 2) throw cursor.unsupported("a path before an asterisk");
  const { text: qualifier } = cursor.next();
  for (let i = 0; i < ahead; i++) cursor.next();
  if (cursor.isWord(BUT) && cursor.isSymbol("(", 1) && !cursor.isWord("select", 2)) {
    throw cursor.unsupported("an asterisk but for some columns");
  }
  return ahead > 0 ? { kind: "all", qualifier } : { kind: "all" };
}

const BUT: ReadonlySet<string> = new Set(["except", "exclude", "replace", "rename"]);
const GROUPINGS: ReadonlySet<string> = new Set(["rollup", "cube", "grouping"]);

function readGroups(cursor: Cursor): readonly Expr[] {
  if (cursor.isWord("distinct") || cursor.isWord("all")) {
    throw cursor.unsupported("GROUP BY with DISTINCT or ALL");
  }
  return cursor.list((): Expr => {
    const isSets = cursor.isWord("grouping") && cursor.isWord("sets", 1);
    if (isSets || (cursor.isWord(GROUPINGS) && cursor.isSymbol("(", 1))) {
      throw cursor.unsupported(`GROUP BY ${cursor.peek().text.toUpperCase()}`);
    }
    return readExpr(cursor);
  });
}
