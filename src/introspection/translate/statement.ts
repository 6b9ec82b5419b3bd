import type { ColumnType } from "../column_type.ts";
import { refused } from "../refusal.ts";
import type { Query, Select, Statement } from "../syntax/ast.ts";
import { findTable, noTable } from "../tables/catalog.ts";
import { warningsOf } from "./constants.ts";
import { translateQuery } from "./query.ts";
import type { Scope, StoredRelation } from "./scope.ts";
import { TermCounts } from "./term_counts.ts";

/** A statement that is ready to run. */
export interface Prepared {
  readonly sql: string;
  /** What its columns are called by who asked, and within SQLite. */
  readonly columns: readonly {
    readonly name: string;
    readonly type: ColumnType;
    readonly ref: string;
    readonly isShort?: boolean;
  }[];
  /** Every mention of a stored table, with what is read of it. */
  readonly relations: readonly StoredRelation[];
  /** What it most likely does not mean, for its sender: printable ASCII. */
  readonly warnings: readonly string[];
}

/** SQLite's own limit is a thousand times this. What is longer came of copies within copies. */
const SQL_CHARS_MAX = 1024 * 1024;

export interface PrepareOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Our own version. */
  readonly version: string;
  /** Stored rows are not where the statement runs, but copies of them are: see `copyOf`. */
  readonly isCopied?: boolean;
}

/**
 * Translates a statement. Throws a `Failure`: 400 for what is not supported, and for tables and
 * columns that do not exist (docs/spec/queries.md#statements).
 */
export function prepare(
  statement: Statement,
  { now, version, isCopied = false }: PrepareOptions,
): Prepared {
  const relations: StoredRelation[] = [];
  const weights = new TermCounts();
  let names = 0;
  const scope: Scope = {
    columns: [],
    outer: undefined,
    commons: new Map(),
    depth: 0,
    statement: {
      now,
      version,
      isCopied,
      relations,
      weights,
      newName: (prefix) => `${prefix}${names++}`,
    },
  };
  const { columns, sql } = translateQuery(queryOf(statement), scope);
  const text = sql();
  if (text.length > SQL_CHARS_MAX) throw refused("Cannot run the query: it is too complex");
  weights.check(text);
  const isShort = statement.kind !== "query";
  return {
    sql: text,
    columns: columns.map((one) => ({ ...one, isShort })),
    relations,
    warnings: warningsOf(relations),
  };
}

/** DESCRIBE and SHOW are queries of the information schema. */
function queryOf(statement: Statement): Query {
  switch (statement.kind) {
    case "query":
    case "explain":
      return statement.query;
    case "showTables":
      return information("tables", [{ kind: "all" }]);
    case "describe": {
      if (!findTable(statement.path)) throw noTable(statement.path);
      const names = [...statement.isShow ? PLACE : [], "column_name", "data_type", "is_nullable"];
      const columns = names.map((name) => ({ kind: "one", expr: column(name) }) as const);
      return information("columns", columns, statement.path.at(-1) ?? "");
    }
  }
}

/** What SHOW COLUMNS says before what DESCRIBE says too. */
const PLACE = ["table_catalog", "table_schema", "table_name"];

function column(name: string) {
  return { kind: "column", path: [name] } as const;
}

function information(table: string, columns: Select["columns"], of?: string): Query {
  const name = { kind: "literal", literal: { type: "text", value: of ?? "" } } as const;
  const where = {
    kind: "binary",
    operator: "=",
    left: column("table_name"),
    right: name,
  } as const;
  const from = { kind: "table", path: ["information_schema", table], columns: [] } as const;
  const body: Select = {
    kind: "select",
    distinct: false,
    columns,
    from,
    groupBy: [],
    ...(of !== undefined && { where }),
  };
  return { with: [], orderBy: [], body };
}
