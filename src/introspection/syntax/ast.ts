/**
 * A statement as we understand it: what `read_statement.ts` makes of a parser's tree, and all that the
 * translation can meet. Names are lower case unless they were quoted.
 */
export type Statement =
  | { readonly kind: "query"; readonly query: Query }
  | { readonly kind: "describe"; readonly path: readonly string[]; readonly isShow?: boolean }
  | { readonly kind: "showTables" }
  | { readonly kind: "explain"; readonly query: Query };

export interface Query {
  readonly with: readonly CommonTable[];
  readonly body: Body;
  readonly orderBy: readonly Sort[];
  readonly limit?: number;
  readonly offset?: number;
}

export interface CommonTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly query: Query;
}

export type Body =
  | Select
  | {
    readonly kind: "compound";
    readonly operator: "union" | "union all" | "except" | "intersect";
    readonly left: Query;
    readonly right: Query;
  }
  | { readonly kind: "values"; readonly rows: readonly (readonly Expr[])[] }
  /** In parentheses of its own. */
  | { readonly kind: "nested"; readonly query: Query };

export interface Select {
  readonly kind: "select";
  readonly distinct: boolean;
  readonly columns: readonly Selected[];
  readonly from?: Source;
  readonly where?: Expr;
  readonly groupBy: readonly Expr[];
  readonly having?: Expr;
}

export type Selected =
  /** `*`, or all columns of one qualifier. */
  | { readonly kind: "all"; readonly qualifier?: string }
  | { readonly kind: "one"; readonly expr: Expr; readonly alias?: string };

/** `columns`: new names for the columns, from the first on. */
export type Source =
  | {
    readonly kind: "table";
    readonly path: readonly string[];
    readonly alias?: string;
    readonly columns: readonly string[];
  }
  | {
    readonly kind: "derived";
    readonly query: Query;
    readonly alias?: string;
    readonly columns: readonly string[];
  }
  | {
    readonly kind: "join";
    readonly how: "inner" | "left" | "right" | "full" | "cross";
    readonly left: Source;
    readonly right: Source;
    readonly on?: Expr;
    /** Columns both sides have. `natural`: all of them. */
    readonly using?: readonly string[] | "natural";
  };

export interface Sort {
  readonly expr: Expr;
  readonly descending: boolean;
  /** Absent: nulls are last, or first when descending. */
  readonly nulls?: "first" | "last";
}

export type Literal =
  | { readonly type: "text"; readonly value: string }
  /** As it was written: digits, perhaps a point and an exponent. */
  | { readonly type: "number"; readonly value: string }
  | { readonly type: "bytes"; readonly value: readonly number[] }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "null" };

export type Expr =
  | { readonly kind: "literal"; readonly literal: Literal }
  | { readonly kind: "interval"; readonly text: string }
  | { readonly kind: "timestamp"; readonly text: string }
  | { readonly kind: "column"; readonly path: readonly string[] }
  | { readonly kind: "unary"; readonly operator: "-" | "+" | "not"; readonly of: Expr }
  | {
    readonly kind: "binary";
    readonly operator: BinaryOperator;
    readonly left: Expr;
    readonly right: Expr;
  }
  | {
    readonly kind: "is";
    readonly not: boolean;
    readonly what: "null" | "true" | "false";
    readonly of: Expr;
  }
  | {
    readonly kind: "like";
    readonly not: boolean;
    readonly ignoreCase: boolean;
    readonly of: Expr;
    readonly pattern: Expr;
    readonly escape?: string;
  }
  | {
    readonly kind: "in";
    readonly not: boolean;
    readonly of: Expr;
    readonly list: readonly Expr[];
  }
  | { readonly kind: "inQuery"; readonly not: boolean; readonly of: Expr; readonly query: Query }
  | {
    readonly kind: "between";
    readonly not: boolean;
    readonly of: Expr;
    readonly low: Expr;
    readonly high: Expr;
  }
  | { readonly kind: "exists"; readonly query: Query }
  | { readonly kind: "scalar"; readonly query: Query }
  | {
    readonly kind: "case";
    readonly of?: Expr;
    readonly whens: readonly { readonly when: Expr; readonly then: Expr }[];
    readonly otherwise?: Expr;
  }
  /** `to`: the name of a type, in lower case, without sizes. */
  | { readonly kind: "cast"; readonly of: Expr; readonly to: string }
  | { readonly kind: "subscript"; readonly of: Expr; readonly index: Expr }
  | Call;

export interface Call {
  readonly kind: "call";
  readonly name: string;
  readonly args: readonly Expr[];
  /** `count(*)`. */
  readonly star: boolean;
  readonly distinct: boolean;
  readonly orderBy: readonly Sort[];
  readonly filter?: Expr;
  readonly over?: Window;
}

export interface Window {
  readonly partitionBy: readonly Expr[];
  readonly orderBy: readonly Sort[];
  /** The frame clause, in words that SQLite knows as well. */
  readonly frame?: string;
}

export type BinaryOperator = Comparison | Arithmetic | "and" | "or" | "||" | "->" | "->>";
export type Comparison =
  | "="
  | "<>"
  | "<"
  | "<="
  | ">"
  | ">="
  | "is distinct from"
  | "is not distinct from";
export type Arithmetic = "+" | "-" | "*" | "/" | "%" | "&" | "|" | "<<" | ">>";
