import type { FromClause, FuncCall, JoinExpr, Keyword, Node } from "sql-parser-cst";
import { unsupported } from "../refusal.ts";
import type { Source } from "./ast.ts";
import { nameOf, readExpr, readPath } from "./read_expr.ts";
import { isQuery, readQuery } from "./read_query.ts";

type Join = Extract<Source, { kind: "join" }>;

/** What stands after FROM. Throws a `Failure` 400 that names what we cannot do. */
export function readSource(node: FromClause["expr"] | Node): Source {
  switch (node.type) {
    case "identifier":
    case "member_expr":
      return { kind: "table", path: readPath(node), columns: [] };
    case "alias": {
      const source = readSource(node.expr as Node);
      if (source.kind === "join") throw unsupported("a name for a join");
      const columns = node.columnAliases?.expr.items.map(nameOf) ?? [];
      return { ...source, alias: nameOf(node.alias), columns };
    }
    case "paren_expr":
      return readParens(node.expr as Node);
    case "join_expr":
      return readJoin(node);
    default:
      throw unsupported(`${node.type.replaceAll("_", " ").toUpperCase()} after FROM`);
  }
}

function readParens(inner: Node): Source {
  if (isQuery(inner)) return { kind: "derived", query: readQuery(inner), columns: [] };
  if (inner.type === "func_call") return readSingleRow(inner);
  return readSource(inner);
}

/** The parser takes `values (1, 2)`, when it is the only row, for a function. */
function readSingleRow({ name, args }: FuncCall): Source {
  if (name.type !== "identifier" || nameOf(name) !== "values" || !args) {
    throw unsupported("a function after FROM");
  }
  const row = args.expr.args.items.map((item) => readExpr(item as Node));
  const query = { with: [], orderBy: [], body: { kind: "values", rows: [row] } } as const;
  return { kind: "derived", query, columns: [] };
}

function readJoin({ left, operator, right, specification }: JoinExpr): Source {
  const words = operator === ","
    ? ["CROSS"]
    : ([operator].flat() as readonly Keyword[]).map(({ name }) => name);
  const how = howOf(words);
  const join: Join = { kind: "join", how, left: readSource(left), right: readSource(right) };
  if (words.includes("NATURAL")) return { ...join, using: "natural" };
  if (!specification) {
    if (how === "cross") return join;
    throw unsupported("a join without ON or USING");
  }
  return specification.type === "join_on_specification"
    ? { ...join, on: readExpr(specification.expr) }
    : { ...join, using: specification.expr.expr.items.map(nameOf) };
}

function howOf(words: readonly string[]): Join["how"] {
  if (words.includes("CROSS")) return "cross";
  if (words.includes("LEFT")) return "left";
  if (words.includes("RIGHT")) return "right";
  if (words.includes("FULL")) return "full";
  return "inner";
}
