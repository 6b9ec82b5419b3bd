import type {
  CommonTableExpr,
  CompoundSelectStmt,
  Keyword,
  Node,
  OrderByClause,
  SelectClause,
  SelectStmt,
  SubSelect,
} from "sql-parser-cst";
import { failed, unsupported } from "../refusal.ts";
import type { Body, CommonTable, Query, Select, Selected, Sort } from "./ast.ts";
import { nameOf, readExpr } from "./read_expr.ts";
import { readSource } from "./read_source.ts";

type Clause = SelectStmt["clauses"][number];
type ClauseOf<T extends Clause["type"]> = Extract<Clause, { type: T }>;

/** Clauses that belong to a query as a whole, wherever the parser put them. */
interface Outer {
  readonly with: CommonTable[];
  orderBy: readonly Sort[];
  limit?: number;
  offset?: number;
}

export function isQuery(node: Node): node is SubSelect {
  return node.type === "select_stmt" || node.type === "compound_select_stmt" ||
    (node.type === "paren_expr" && isQuery(node.expr as Node));
}

/** A query, with or without parentheses around it. Throws a `Failure` 400 for what we cannot do. */
export function readQuery(node: SubSelect): Query {
  if (node.type === "paren_expr") return readQuery(node.expr);
  const outer: Outer = { with: [], orderBy: [] };
  const body = node.type === "compound_select_stmt"
    ? readCompound(node, outer)
    : readBody(node.clauses, outer);
  return { ...outer, body };
}

/** The parser leaves WITH at the first part and ORDER BY, LIMIT and OFFSET at the last one. */
function readCompound(node: CompoundSelectStmt, outer: Outer): Body {
  const operator = operatorOf(node.operator);
  const left = part(node.left, outer, ["with_clause"]);
  const right = part(node.right, outer, ["order_by_clause", "limit_clause", "offset_clause"]);
  return { kind: "compound", operator, left, right };
}

/** One side of a compound, and what it holds for all of it. */
function part(node: SubSelect, outer: Outer, types: readonly Clause["type"][]): Query {
  if (node.type === "paren_expr") return readQuery(node.expr);
  if (node.type === "compound_select_stmt") {
    return { with: [], orderBy: [], body: readCompound(node, outer) };
  }
  const lifted = node.clauses.filter(({ type }) => types.includes(type));
  for (const clause of lifted) readOuter(clause, outer);
  const own: Outer = { with: [], orderBy: [] };
  const body = readBody(node.clauses.filter((clause) => !lifted.includes(clause)), own);
  return { ...own, body };
}

function operatorOf(
  operator: CompoundSelectStmt["operator"],
): Extract<Body, { kind: "compound" }>["operator"] {
  const words = (Array.isArray(operator) ? operator : [operator]) as readonly Keyword[];
  const text = words.map(({ name }) => name.toLowerCase()).join(" ").replace(" distinct", "");
  if (text === "union" || text === "union all" || text === "except" || text === "intersect") {
    return text;
  }
  throw unsupported(text.toUpperCase());
}

function readBody(clauses: readonly Clause[], outer: Outer): Body {
  const inner = clauses.filter((clause) => !readOuter(clause, outer));
  const [first] = inner;
  if (inner.length === 1 && first?.type === "paren_expr") {
    return { kind: "nested", query: readQuery(first.expr) };
  }
  const only = first as Node | undefined;
  if (inner.length === 1 && only?.type === "values_clause") return readValues(only);
  if (inner.length === 1 && first?.type === "table_clause") {
    return { ...EMPTY, columns: [{ kind: "all" }], from: readSource(first.table) };
  }
  return readSelect(inner);
}

const EMPTY: Select = { kind: "select", distinct: false, columns: [], groupBy: [] };

/** Whether this clause is about the query as a whole. */
function readOuter(clause: Clause, outer: Outer): boolean {
  switch (clause.type) {
    case "with_clause":
      if (clause.recursiveKw) throw unsupported("WITH RECURSIVE");
      outer.with.push(...clause.tables.items.map(readCommonTable));
      return true;
    case "order_by_clause":
      outer.orderBy = readSorts(clause);
      return true;
    case "limit_clause":
      if (clause.count && clause.count.type !== "limit_all") {
        outer.limit = readCount(clause.count, "LIMIT");
      }
      if (clause.offset) outer.offset = readCount(clause.offset, "OFFSET");
      if (clause.rowsExamined) throw unsupported("ROWS EXAMINED");
      return true;
    case "offset_clause":
      outer.offset = readCount(clause.offset, "OFFSET");
      return true;
    default:
      return false;
  }
}

function readCommonTable(node: CommonTableExpr): CommonTable {
  const { expr } = node.expr;
  if (!isQuery(expr)) throw unsupported("WITH around anything but a query");
  if (node.search || node.cycle) throw unsupported("SEARCH and CYCLE");
  return {
    name: nameOf(node.table),
    columns: node.columns?.expr.items.map(nameOf) ?? [],
    query: readQuery(expr),
  };
}

function readValues({ values }: Extract<Node, { type: "values_clause" }>): Body {
  const items: readonly Node[] = values.items;
  const rows = items.map((row) => {
    if (row.type !== "paren_expr") throw unsupported("a row of VALUES without parentheses");
    const expr = row.expr as Node;
    return expr.type === "list_expr" ? expr.items.map(readExpr) : [readExpr(expr)];
  });
  return { kind: "values", rows };
}

function readSelect(clauses: readonly Clause[]): Select {
  const select: { -readonly [K in keyof Select]: Select[K] } = { ...EMPTY };
  for (const clause of clauses) {
    switch (clause.type) {
      case "select_clause":
        Object.assign(select, readColumns(clause));
        break;
      case "from_clause":
        select.from = readSource(clause.expr);
        break;
      case "where_clause":
        select.where = readExpr(clause.expr);
        break;
      case "group_by_clause":
        select.groupBy = readGroups(clause);
        break;
      case "having_clause":
        select.having = readExpr(clause.expr);
        break;
      default:
        throw unsupported(clauseName(clause));
    }
  }
  return select;
}

function readColumns({ modifiers, columns }: SelectClause): Pick<Select, "distinct" | "columns"> {
  for (const { type } of modifiers) {
    if (type !== "select_distinct" && type !== "select_all") throw unsupported(words(type));
  }
  return {
    distinct: modifiers.some(({ type }) => type === "select_distinct"),
    columns: columns?.items.map(readColumn) ?? [],
  };
}

function readColumn(node: Node): Selected {
  if (node.type === "all_columns") return { kind: "all" };
  if (node.type === "member_expr" && node.property.type === "all_columns") {
    if (node.object.type !== "identifier") throw unsupported("a path before an asterisk");
    return { kind: "all", qualifier: nameOf(node.object) };
  }
  if (node.type !== "alias") return { kind: "one", expr: readExpr(node) };
  return { kind: "one", expr: readExpr(node.expr as Node), alias: nameOf(node.alias) };
}

function readGroups({ columns, distinctKw, withRollupKw }: ClauseOf<"group_by_clause">) {
  if (distinctKw || withRollupKw) throw unsupported("GROUP BY with DISTINCT or ROLLUP");
  return columns.items.map((item) => {
    if (item.type.startsWith("group_by_")) throw unsupported(words(item.type));
    return readExpr(item as Node);
  });
}

/** The terms of an ORDER BY. */
export function readSorts({ specifications, withRollupKw }: OrderByClause): Sort[] {
  if (withRollupKw) throw unsupported("WITH ROLLUP");
  return specifications.items.map((item) => {
    if (item.type === "identifier") return { expr: readExpr(item), descending: false };
    const { direction, nullHandlingKw } = item;
    if (direction?.type === "sort_direction_using_operator") throw unsupported("ORDER BY … USING");
    return {
      expr: readExpr(item.expr),
      descending: direction?.type === "sort_direction_desc",
      ...(nullHandlingKw && { nulls: nullHandlingKw[1].name === "FIRST" ? "first" : "last" }),
    };
  });
}

function readCount(node: Node, what: "LIMIT" | "OFFSET"): number {
  const text = node.type === "number_literal" ? node.text : "";
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw failed(`Cannot run the query: ${what} must be a number, 0 or more`);
}

function clauseName({ type }: Clause): string {
  return `the ${words(type.replace(/_clause$/, ""))} clause`;
}

function words(type: string): string {
  return type.replaceAll("_", " ").toUpperCase();
}
