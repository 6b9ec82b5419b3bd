import { didYouMean } from "../../nearest.ts";
import type { Failure } from "../../errors.ts";
import type { ColumnType } from "../column_type.ts";
import { cut, refused } from "../refusal.ts";
import type { Table } from "../tables/table.ts";
import type { TermCounts } from "./term_counts.ts";

/** A column of something after FROM, or of a query. */
export interface Column {
  /** What `t` in `t.name` must be; absent: nothing. */
  readonly qualifier: string | undefined;
  readonly name: string;
  /** Other spellings of its name. */
  readonly aliases?: readonly string[];
  readonly type: ColumnType;
  readonly notNull: boolean;
  /** Makes sure that it can be read, and says how. */
  readonly read: () => string;
  /** Whose column it is, when it is a stored one. */
  readonly stored?: StoredColumn;
  /** A column that another one of its name stands for: found by its qualifier only. */
  readonly isMerged?: boolean;
}

export interface StoredColumn {
  readonly relation: StoredRelation;
  readonly name: string;
  /** It is read through a derived table, and so under another name: see `StoredRelation.shown`. */
  readonly isDerived?: boolean;
}

/** One mention of a table. */
export interface StoredRelation {
  readonly table: Table;
  /** What it is called in the statement, and what its columns are. */
  readonly name: string;
  readonly refs: ReadonlyMap<string, string>;
  /** Names of columns that the statement reads. */
  readonly used: Set<string>;
  /** Values that rows must have, of columns that were compared with constants. */
  readonly pushed: Map<string, readonly string[]>;
  /** Constants that a column was compared with and never holds, by column: see `constants.ts`. */
  readonly unheld: Map<string, Set<string>>;
  /** What holds for all rows that matter, as SQL over its columns: see `PeerReply`. */
  readonly filter: string[];
  /** What queries around it call its columns (`r2.c7`), and what they are (`r1.c3`). */
  readonly shown: Map<string, string>;
  /** Only its first rows, in this order of its columns (SQL, maybe empty), are needed. */
  firstRows?: { readonly order: string; readonly rowsMax: number };
}

/** Names that an expression may use. */
export interface Scope {
  readonly columns: readonly Column[];
  /** The query around this one. */
  readonly outer: Scope | undefined;
  readonly statement: StatementScope;
  /** Queries that WITH gave names. */
  readonly commons: ReadonlyMap<string, Common>;
  /** How many queries are around this one. */
  readonly depth: number;
}

/** A query with a name. */
export interface Common {
  /** What it is called in SQLite. */
  readonly table: string;
  readonly outputs: readonly Output[];
}

/** A column of a query. */
export interface Output {
  readonly name: string;
  /** Of a column that was taken over as it is. */
  readonly qualifier?: string | undefined;
  readonly aliases?: readonly string[] | undefined;
  readonly type: ColumnType;
  readonly notNull: boolean;
  /** What it is called in SQLite: nothing else in the statement is. */
  readonly ref: string;
  /** Whose column it is, when a condition on it may be checked on the rows of that table instead. */
  readonly stored?: StoredColumn;
  /** Makes sure that it is computed. Absent: it always is. */
  readonly use?: () => void;
}

/** What all queries of a statement share. */
export interface StatementScope {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly version: string;
  /** Stored rows are in copies: see `copyOf`. */
  readonly isCopied: boolean;
  /** Every mention of a stored table. */
  readonly relations: StoredRelation[];
  readonly weights: TermCounts;
  /** A new name within the statement. */
  readonly newName: (prefix: "c" | "r" | "w") => string;
}

/** A value: how SQLite computes it, and what we know about it. */
export interface Value {
  readonly sql: string;
  readonly type: ColumnType;
  /** What an unnamed column with it is called: about what the reference calls it. */
  readonly name: string;
  readonly notNull?: boolean;
  /** A constant text or number, as it was written. */
  readonly constant?: { readonly type: "text" | "number"; readonly value: string };
  /** The column it is, and nothing else. */
  readonly column?: Column;
  /** What holds for rows for which it is true. */
  readonly facts?: readonly KeyFact[];
  /** The filter that holds for rows for which it is true. */
  readonly filter?: PushedFilter;
  /** It is the same for all rows, and no constant of the statement. */
  readonly isSame?: boolean;
}

/**
 * What a condition says of single tables, so that a remote database can leave rows out. Each part
 * compares columns of one table with what is the same for all rows, in ways that any SQLite knows, and
 * is not true of a row of nulls: so it may be asked before a join.
 */
export interface PushedFilter {
  readonly parts: readonly { readonly relation: StoredRelation; readonly sql: string }[];
  /** The parts together are the whole condition. */
  readonly isAll: boolean;
}

/** A stored column has one of these values. */
export interface KeyFact {
  readonly column: StoredColumn;
  readonly values: readonly string[];
}

/** The column with this name. Throws a `Failure` 400 when there is none, or more than one. */
export function findColumn(scope: Scope, path: readonly string[]): Column {
  for (let at: Scope | undefined = scope; at; at = at.outer) {
    const found = matches(at.columns, path);
    if (found.length > 1) {
      throw refused(`Cannot run the query: column "${dots(path)}" is ambiguous`);
    }
    if (found[0]) return found[0];
  }
  throw noColumn(scope.columns, path);
}

const LISTED_MAX = 60;

/** Names the columns that there are, those first that may have been meant. */
function noColumn(columns: readonly Column[], path: readonly string[]): Failure {
  const spelled = ({ qualifier, name }: Column) =>
    dots(qualifier === undefined ? [name] : [qualifier, name]);
  const names = columns.map((column) => path.length > 1 ? spelled(column) : column.name);
  const known = columns.slice(0, LISTED_MAX).map(spelled);
  const more = columns.length > LISTED_MAX ? ", …" : "";
  return refused(
    `Cannot run the query: there is no column "${cut(dots(path))}"` +
      didYouMean(cut(dots(path)), [...new Set(names)]) +
      (known.length > 0 ? `; there are ${known.join(", ")}${more}` : ""),
  );
}

function matches(columns: readonly Column[], path: readonly string[]): Column[] {
  // What stands before the name of a table is the same for all tables: see `findTable`.
  const [name = "", qualifier] = path.toReversed();
  return columns.filter((column) =>
    (column.name === name || column.aliases?.includes(name)) &&
    (qualifier === undefined ? !column.isMerged : column.qualifier === qualifier)
  );
}

function dots(path: readonly string[]): string {
  return path.join(".");
}
