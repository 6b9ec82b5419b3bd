import type { FrameBound, FrameClause, FuncCall, Node, OverArg } from "sql-parser-cst";
import { unsupported } from "../refusal.ts";
import type { Call, Window } from "./ast.ts";
import { readExpr, readPath } from "./read_expr.ts";
import { readSorts } from "./read_query.ts";

const NO_ARGS = { args: [], star: false, distinct: false, orderBy: [] } as const;

/** A function with its arguments. EXTRACT is `date_part`, `position(a in b)` is `strpos(b, a)`. */
export function readCall(
  node: FuncCall | Extract<Node, { type: "extract_expr" }>,
): Call {
  if (node.type === "extract_expr") {
    const { unit, expr } = node.args.expr;
    if (unit.type !== "interval_unit") throw unsupported("EXTRACT of such a unit");
    const part = { type: "text", value: unit.unitKw.name.toLowerCase() } as const;
    const args = [{ kind: "literal", literal: part } as const, readExpr(expr)];
    return { kind: "call", name: "date_part", ...NO_ARGS, args };
  }
  const [name = "", ...more] = readPath(node.name);
  if (more.length > 0) throw unsupported("a function with a path");
  return {
    kind: "call",
    name: name.toLowerCase(),
    ...(name === "position" ? readPosition(node) : readArgs(node)),
    ...(node.filter && { filter: readExpr(node.filter.where.expr.expr) }),
    ...(node.over && { over: readOver(node.over) }),
  };
}

function readPosition(node: FuncCall): Pick<Call, keyof typeof NO_ARGS> {
  const only = node.args?.expr.args.items[0];
  const isOne = node.args?.expr.args.items.length === 1;
  if (!isOne || only?.type !== "binary_expr" || Array.isArray(only.operator)) {
    throw unsupported("POSITION of anything but `a IN b`");
  }
  const { left, right } = only;
  return { ...NO_ARGS, args: [readExpr(right as Node), readExpr(left as Node)] };
}

function readArgs({ args: node }: FuncCall): Pick<Call, keyof typeof NO_ARGS> {
  if (!node) return NO_ARGS;
  const { args: { items }, distinctKw, nullHandlingKw, orderBy, limit, having } = node.expr;
  if (nullHandlingKw?.[0].name === "IGNORE") throw unsupported("IGNORE NULLS");
  if (limit || having) throw unsupported("LIMIT or HAVING within a function");
  const star = items.length === 1 && items[0]?.type === "all_columns";
  return {
    args: star ? [] : items.map((item) => {
      if (item.type === "named_arg") throw unsupported("a named argument");
      return readExpr(item);
    }),
    star,
    distinct: distinctKw !== undefined,
    orderBy: orderBy ? readSorts(orderBy) : [],
  };
}

function readOver({ window }: OverArg): Window {
  if (window.type === "identifier") throw unsupported("a named window");
  const { baseWindowName, partitionBy, orderBy, frame } = window.expr;
  if (baseWindowName) throw unsupported("a named window");
  return {
    partitionBy: partitionBy?.specifications.items.map(readExpr) ?? [],
    orderBy: orderBy ? readSorts(orderBy) : [],
    ...(frame && { frame: readFrame(frame) }),
  };
}

function readFrame({ unitKw, extent, exclusion }: FrameClause): string {
  if (exclusion) throw unsupported("EXCLUDE within a window");
  const bounds = extent.type === "frame_between"
    ? `between ${readBound(extent.begin)} and ${readBound(extent.end)}`
    : readBound(extent);
  return `${unitKw.name.toLowerCase()} ${bounds}`;
}

function readBound(bound: FrameBound): string {
  if (bound.type === "frame_bound_current_row") return "current row";
  const side = bound.type === "frame_bound_preceding" ? "preceding" : "following";
  if (bound.expr.type === "frame_unbounded") return `unbounded ${side}`;
  if (bound.expr.type === "number_literal" && /^\d{1,15}$/.test(bound.expr.text)) {
    return `${bound.expr.text} ${side}`;
  }
  throw unsupported("such a window frame");
}
