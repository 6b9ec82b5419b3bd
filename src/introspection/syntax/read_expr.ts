import type {
  BinaryExpr,
  CaseExpr,
  DataType,
  Identifier,
  IntervalLiteral,
  Keyword,
  Node,
  PostfixOpExpr,
  PrefixOpExpr,
} from "sql-parser-cst";
import { unsupported } from "../refusal.ts";
import type { BinaryOperator, Expr } from "./ast.ts";
import { readCall } from "./read_call.ts";
import { isQuery, readQuery } from "./read_query.ts";

/** An expression. Throws a `Failure` 400 that names what we cannot do. */
export function readExpr(node: Node): Expr {
  switch (node.type) {
    case "paren_expr":
      return readParens(node.expr as Node);
    case "identifier":
    case "member_expr":
      return readMember(node);
    case "binary_expr":
      return readBinary(node as BinaryExpr);
    case "prefix_op_expr":
      return readPrefix(node);
    case "postfix_op_expr":
      return readPostfix(node);
    case "between_expr":
      return readBetween(node);
    case "case_expr":
      return readCase(node);
    case "cast_expr":
      if (node.castKw.name !== "CAST") throw unsupported(node.castKw.name);
      return readCast(node.args.expr.expr, node.args.expr.dataType);
    case "cast_operator_expr":
      return readCast(node.left, node.right);
    case "func_call":
    case "extract_expr":
      return readCall(node);
    default:
      return readLiteral(node);
  }
}

function readLiteral(node: Node): Expr {
  switch (node.type) {
    case "string_literal":
      return { kind: "literal", literal: { type: "text", value: node.value } };
    case "number_literal":
      if (!/^\d*\.?\d+\.?(?:e[+-]?\d+)?$/i.test(node.text)) {
        throw unsupported(`the number ${node.text}`);
      }
      return { kind: "literal", literal: { type: "number", value: node.text } };
    case "blob_literal":
      return { kind: "literal", literal: { type: "bytes", value: node.value } };
    case "boolean_literal":
      return { kind: "literal", literal: { type: "bool", value: node.value } };
    case "null_literal":
      return { kind: "literal", literal: { type: "null" } };
    case "timestamp_literal":
      return { kind: "timestamp", text: node.string.value };
    case "interval_literal":
      return readInterval(node);
    default:
      throw unsupported(words(node.type));
  }
}

function readInterval({ value, unit, precision }: IntervalLiteral): Expr {
  if (value.type !== "string_literal") throw unsupported("INTERVAL of anything but a text");
  if (precision || unit?.type === "interval_unit_range") throw unsupported("a range of INTERVAL");
  const text = unit ? `${value.value} ${unit.unitKw.name.toLowerCase()}` : value.value;
  return { kind: "interval", text };
}

function readParens(inner: Node): Expr {
  if (isQuery(inner)) return { kind: "scalar", query: readQuery(inner) };
  if (inner.type === "list_expr") throw unsupported("a row of values");
  return readExpr(inner);
}

function readMember(node: Node): Expr {
  if (node.type === "member_expr" && node.property.type === "array_subscript") {
    const index = node.property.expr;
    if (index.type.startsWith("array_s")) throw unsupported("a slice of an array");
    return { kind: "subscript", of: readExpr(node.object), index: readExpr(index as Node) };
  }
  return { kind: "column", path: readPath(node) };
}

/** The names in `a.b.c`. Throws a `Failure` 400 for anything else. */
export function readPath(node: Node): readonly string[] {
  if (node.type === "identifier") return [nameOf(node)];
  if (node.type === "member_expr" && node.property.type === "identifier") {
    return [...readPath(node.object), nameOf(node.property)];
  }
  throw unsupported(words(node.type));
}

/** A name counts in lower case unless it was quoted. */
export function nameOf({ text, name }: Identifier): string {
  return text.startsWith('"') ? name : name.toLowerCase();
}

const SYMBOLS: Readonly<Record<string, BinaryOperator>> = {
  "=": "=",
  "==": "=",
  "<>": "<>",
  "!=": "<>",
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
  "is distinct from": "is distinct from",
  "is not distinct from": "is not distinct from",
  "+": "+",
  "-": "-",
  "*": "*",
  "/": "/",
  "%": "%",
  "&": "&",
  "|": "|",
  "<<": "<<",
  ">>": ">>",
  "||": "||",
  "->": "->",
  "->>": "->>",
  "and": "and",
  "or": "or",
};

function readBinary({ left, operator: node, right }: BinaryExpr): Expr {
  const operator = operatorOf(node);
  switch (operator) {
    case "in":
    case "not in":
      return readIn(operator === "not in", left, right);
    case "is":
    case "is not":
      return readIs(operator === "is not", left, right);
    case "like":
    case "not like":
    case "ilike":
    case "not ilike":
      return readLike(operator, left, right);
  }
  const known = Object.hasOwn(SYMBOLS, operator) ? SYMBOLS[operator] : undefined;
  if (!known) throw unsupported(`the operator ${operator.toUpperCase()}`);
  if (known === "=" && right.type === "quantifier_expr" && right.quantifierKw.name !== "ALL") {
    return readAny(left, right.expr.expr);
  }
  return { kind: "binary", operator: known, left: readExpr(left), right: readExpr(right) };
}

/** `x = any(list)` is a function of a list; of a query it is IN. */
function readAny(left: Node, right: Node): Expr {
  if (isQuery(right)) {
    return { kind: "inQuery", not: false, of: readExpr(left), query: readQuery(right) };
  }
  const list = right.type === "list_expr" ? right.items[0] : right;
  if (!list) throw unsupported("ANY of nothing");
  return {
    kind: "call",
    name: "array_has",
    args: [readExpr(list), readExpr(left)],
    star: false,
    distinct: false,
    orderBy: [],
  };
}

function readIn(not: boolean, left: Node, right: Node): Expr {
  const of = readExpr(left);
  if (right.type !== "paren_expr") throw unsupported("IN without parentheses");
  const inner = right.expr as Node;
  if (isQuery(inner)) return { kind: "inQuery", not, of, query: readQuery(inner) };
  const list = inner.type === "list_expr" ? inner.items : [inner];
  return { kind: "in", not, of, list: list.map(readExpr) };
}

function readIs(not: boolean, left: Node, right: Node): Expr {
  const of = readExpr(left);
  if (right.type === "null_literal") return { kind: "is", not, what: "null", of };
  if (right.type !== "boolean_literal") throw unsupported("IS with anything but a constant");
  return { kind: "is", not, what: right.value ? "true" : "false", of };
}

function readLike(operator: string, left: Node, right: Node): Expr {
  const common = {
    kind: "like",
    not: operator.startsWith("not"),
    ignoreCase: operator.endsWith("ilike"),
    of: readExpr(left),
  } as const;
  if (right.type !== "binary_expr" || operatorOf(right.operator) !== "escape") {
    return { ...common, pattern: readExpr(right) };
  }
  const escape = right.right as Node;
  if (escape.type !== "string_literal" || [...escape.value].length !== 1) {
    throw unsupported("ESCAPE with anything but one character");
  }
  return { ...common, pattern: readExpr(right.left as Node), escape: escape.value };
}

function readPrefix({ operator: node, expr }: PrefixOpExpr): Expr {
  const operator = operatorOf(node);
  switch (operator) {
    case "-":
    case "+":
    case "not":
      return { kind: "unary", operator, of: readExpr(expr) };
    case "exists": {
      const inner = expr.type === "paren_expr" ? expr.expr as Node : expr;
      if (isQuery(inner)) return { kind: "exists", query: readQuery(inner) };
    }
  }
  throw unsupported(`the operator ${operator.toUpperCase()}`);
}

function readPostfix({ operator: node, expr }: PostfixOpExpr): Expr {
  const operator = operatorOf(node);
  const not = operator === "notnull" || operator === "not null" || operator === "is not unknown";
  if (!not && operator !== "isnull" && operator !== "is unknown") {
    throw unsupported(`the operator ${operator.toUpperCase()}`);
  }
  return { kind: "is", not, what: "null", of: readExpr(expr) };
}

function readBetween(node: Extract<Node, { type: "between_expr" }>): Expr {
  const words = operatorOf(node.betweenKw);
  if (words.includes("symmetric")) throw unsupported("BETWEEN SYMMETRIC");
  return {
    kind: "between",
    not: words.startsWith("not"),
    of: readExpr(node.left),
    low: readExpr(node.begin),
    high: readExpr(node.end),
  };
}

function readCase({ expr, clauses }: CaseExpr): Expr {
  const otherwise = clauses.find((clause) => clause.type === "case_else");
  return {
    kind: "case",
    ...(expr && { of: readExpr(expr) }),
    whens: clauses.flatMap((clause) =>
      clause.type === "case_when"
        ? [{ when: readExpr(clause.condition), then: readExpr(clause.result) }]
        : []
    ),
    ...(otherwise && { otherwise: readExpr(otherwise.result) }),
  };
}

function readCast(node: Node, type: DataType): Expr {
  return { kind: "cast", of: readExpr(node), to: typeName(type) };
}

function typeName(type: DataType): string {
  switch (type.type) {
    case "identifier":
      return nameOf(type);
    case "data_type_name":
      return operatorOf(type.name);
    case "modified_data_type":
      return typeName(type.dataType);
    case "time_data_type":
      return type.timeKw.name.toLowerCase();
    case "interval_data_type":
      return "interval";
    default:
      throw unsupported(`the type ${words(type.type)}`);
  }
}

/** An operator in lower case, its words with one space between. */
function operatorOf(operator: unknown): string {
  if (typeof operator === "string") return operator;
  if (Array.isArray(operator)) return operator.map(operatorOf).join(" ");
  const node = operator as Keyword | Exclude<Node, Keyword>;
  return node.type === "keyword" ? node.name.toLowerCase() : words(node.type);
}

function words(type: string): string {
  return type.replace(/_expr$/, "").replaceAll("_", " ").toUpperCase();
}
