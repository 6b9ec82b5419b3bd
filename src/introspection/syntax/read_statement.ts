import {
  type ExplainStmt,
  FormattedSyntaxError,
  parse,
  type ShowParameterStmt,
  type Statement as Tree,
} from "sql-parser-cst";
import { failed, refused, unsupported } from "../refusal.ts";
import type { Query, Statement } from "./ast.ts";
import { isQuery, readQuery } from "./read_query.ts";
import { readPath } from "./read_expr.ts";

/** The largest statement that is parsed, in characters: a list of some thousand ids fits. */
export const STATEMENT_CHARS_MAX = 256 * 1024;

/**
 * The one statement in a text. Throws a `Failure`: 400 for what is no SQL or may not be asked, 500
 * for several statements (http-api §3.9). Deep nesting takes the parser long, so whoever calls this
 * must be able to give up on it.
 */
export function readStatement(sql: string): Statement {
  if (sql.length > STATEMENT_CHARS_MAX) {
    throw refused(`Cannot run the query: it is longer than ${STATEMENT_CHARS_MAX} characters`);
  }
  const asked = describedTable(sql);
  const trees = parseAll(asked === undefined ? sql : `table ${asked}`);
  const [tree, ...more] = trees.filter(({ type }) => type !== "empty");
  if (!tree) throw refused("Cannot run the query: there is no statement in it");
  if (more.length > 0) throw failed("Cannot run the query: only a single statement is supported");
  if (asked !== undefined) return { kind: "describe", path: pathOf(tree) };
  return readTree(tree);
}

function readTree(tree: Tree): Statement {
  if (isQuery(tree)) return { kind: "query", query: readQuery(tree) };
  switch (tree.type) {
    case "show_parameter_stmt":
      return readShow(tree);
    case "explain_stmt":
      return { kind: "explain", query: explained(tree) };
    default:
      throw refused(
        `Cannot run the query: it is ${nameOf(tree)}, only SELECT, SHOW and DESCRIBE are allowed`,
      );
  }
}

/**
 * `DESCRIBE t` and `SHOW COLUMNS FROM t` are in no dialect of the parser. Their table is what the
 * parser would read after TABLE.
 */
function describedTable(sql: string): string | undefined {
  return /^\s*(?:desc|describe|show\s+columns\s+(?:from|in))\s+(?:table\s+)?((?!select\b)[\s\S]+)$/i
    .exec(sql)?.[1];
}

function pathOf(tree: Tree): readonly string[] {
  if (tree.type === "select_stmt") {
    const [clause, ...more] = tree.clauses;
    if (clause?.type === "table_clause" && more.length === 0) return readPath(clause.table);
  }
  throw unsupported("DESCRIBE of anything but a table");
}

function readShow({ name }: ShowParameterStmt): Statement {
  if (name?.type === "identifier" && name.name.toLowerCase() === "tables") {
    return { kind: "showTables" };
  }
  throw unsupported("SHOW of anything but TABLES and COLUMNS");
}

function explained({ statement }: ExplainStmt): Query {
  if (isQuery(statement)) return readQuery(statement);
  throw unsupported("EXPLAIN of anything but a query");
}

function parseAll(sql: string): Tree[] {
  try {
    return parse(sql, { dialect: "postgresql" }).statements;
  } catch (cause) {
    if (cause instanceof RangeError) {
      throw refused("Cannot run the query: it is nested too deep", { cause });
    }
    if (!(cause instanceof FormattedSyntaxError)) throw cause;
    // The parser goes on with what it expected and a picture of the place.
    const [what = "syntax error"] = cause.message.split("\n");
    const place = /undefined:(\d+):(\d+)/.exec(cause.message);
    const where = place ? ` at line ${place[1]}, column ${place[2]}` : "";
    throw refused(`Cannot parse the query: ${what}${where}`, { cause });
  }
}

/** `drop_table_stmt` as people read it. */
function nameOf({ type }: Tree): string {
  return type.replace(/_stmt$/, "").replaceAll("_", " ").toUpperCase();
}
