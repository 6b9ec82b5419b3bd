import { refused } from "../refusal.ts";
import type { Source } from "../syntax/ast.ts";
import { findTable, noTable } from "../tables/catalog.ts";
import { NOW, PARTS, type Table, type TableColumn } from "../tables/table.ts";
import { translateJoin } from "./join.ts";
import { asColumns, renamed, translateQuery } from "./query.ts";
import type { Column, Output, Scope, StoredRelation } from "./scope.ts";

/** What stands after FROM. */
export interface Relation {
  readonly columns: readonly Column[];
  readonly sql: () => string;
}

/** A table, a query or a join. Throws a `Failure` 400 for a table that there is not. */
export function translateSource(source: Source, scope: Scope): Relation {
  switch (source.kind) {
    case "join":
      return translateJoin(source, scope);
    case "derived": {
      const inner = { ...scope, columns: [] };
      const { columns, sql } = translateQuery(source.query, inner, { isDerived: true });
      return named({ outputs: columns, sql: () => `(${sql()})` }, source, scope);
    }
    case "table": {
      const [name = "", ...more] = source.path;
      const common = more.length === 0 ? scope.commons.get(name) : undefined;
      if (common) {
        const outputs = common.outputs.map((one) => ({ ...one, qualifier: name }));
        return named({ outputs, sql: () => common.table }, source, scope);
      }
      const table = findTable(source.path);
      if (table) return stored(atTime(table, scope.statement.now), source, scope);
      throw noTable(source.path, [...scope.commons.keys()]);
    }
  }
}

/**
 * A query under a name. Without one its columns are called as they are within it: `(select * from t)`
 * has columns of `t`, as in the reference (docs/spec/queries.md#dialect).
 */
function named(
  { outputs, sql }: { readonly outputs: readonly Output[]; readonly sql: () => string },
  { alias, columns }: { readonly alias?: string; readonly columns: readonly string[] },
  scope: Scope,
): Relation {
  const table = scope.statement.newName("r");
  const own = renamed(outputs, columns).map((one) => {
    const ref = `${table}.${one.ref}`;
    if (one.stored) {
      const { relation, name } = one.stored;
      relation.shown.set(ref, `${relation.name}.${relation.refs.get(name)}`);
    }
    const use = () => {
      one.use?.();
      scope.statement.weights.alias(ref, one.ref);
    };
    return { ...one, ...(alias !== undefined && { qualifier: alias }), ref, use };
  });
  return { columns: asColumns(own), sql: () => `${sql()} as ${table}` };
}

/** A table with what `NOW` stands for. */
function atTime(table: Table, now: number): Table {
  const { narrowed, parts } = table;
  const at = (sql: string) => sql.replaceAll(NOW, String(now));
  return {
    ...table,
    from: at(table.from),
    columns: table.columns.map((column) => ({ ...column, sql: at(column.sql) })),
    ...(parts && { parts: parts.map((part) => ({ ...part, from: at(part.from) })) }),
    ...(narrowed && { narrowed: (wanted) => atTime(narrowed(wanted), now) }),
  };
}

/** A stored table: of its columns only those that are used are computed. */
function stored(
  table: Table,
  { alias, columns: names }: Extract<Source, { kind: "table" }>,
  { statement }: Scope,
): Relation {
  const own = statement.newName("r");
  const refs = new Map(table.columns.map(({ name }) => [name, statement.newName("c")]));
  const relation: StoredRelation = {
    table,
    name: own,
    refs,
    used: new Set(),
    pushed: new Map(),
    unheld: new Map(),
    filter: [],
    shown: new Map(),
  };
  statement.relations.push(relation);
  if (names.length > table.columns.length) {
    throw refused(`Cannot run the query: "${table.name}" has ${table.columns.length} columns`);
  }
  for (const { name, sql } of table.columns) {
    statement.weights.define(`${own}.${refs.get(name)}`, sql);
  }
  const columns = table.columns.map(({ name, type, aliases, notNull = false }, i): Column => ({
    qualifier: alias ?? table.name,
    name: names[i] ?? name,
    ...(aliases && { aliases }),
    type,
    notNull,
    read: () => {
      relation.used.add(name);
      return `${own}.${refs.get(name)}`;
    },
    stored: { relation, name },
  }));
  return { columns, sql: () => `(${rowsOf(relation, statement.isCopied)}) as ${own}` };
}

/** Whether its rows come out of copies, where there are any. Entries of journals have their own way. */
export function isCopied({ table }: StoredRelation): boolean {
  return table.keys !== undefined;
}

/** The table that has the rows of one mention of a table, with the columns that are used of it. */
export function copyOf({ name }: StoredRelation): string {
  return `copy_${name}`;
}

/** `haveCopies`: the rows of stored tables are in copies. */
function rowsOf(relation: StoredRelation, haveCopies: boolean): string {
  return haveCopies && isCopied(relation) ? copiedSql(relation) : storedSql(relation, haveCopies);
}

function copiedSql(relation: StoredRelation): string {
  const list = usedColumns(relation).map(({ ref }) => ref);
  return `select ${list.join(", ") || "0"} from ${copyOf(relation)}`;
}

/** What is read of a mention, each as SQL over the table's `from`, and what that is called. */
export function usedColumns(
  { table, used, refs }: StoredRelation,
): (TableColumn & { readonly ref: string })[] {
  return table.columns.filter(({ name }) => used.has(name))
    .map((column) => ({ ...column, ref: refs.get(column.name)! }));
}

/** What holds for all rows that are read of a mention, as SQL. */
export function conditionsOf({ table, pushed }: StoredRelation): string[] {
  return [table.where, table.seek?.(pushed)].filter((one) => one !== undefined)
    .map((one) => `(${one})`);
}

function storedSql(relation: StoredRelation, haveCopies: boolean): string {
  const list = usedColumns(relation).map(({ sql, ref }) => `${sql} as ${ref}`);
  const conditions = conditionsOf(relation);
  return `select ${list.join(", ") || "0"} from ${fromOf(relation, haveCopies)}` +
    (conditions.length > 0 ? ` where ${conditions.join(" and ")}` : "");
}

/** Copied parts are tables, others are computed once for each mention. */
function fromOf(relation: StoredRelation, haveCopies: boolean): string {
  const { from, parts = [] } = neededOf(relation);
  // A part that is a stored table is there already.
  const groups = parts.filter(({ name, from }) => from !== `${name} as t`);
  const terms = groups.map(({ name, columns, from }) =>
    `${name} as materialized (select ${columns.map((one) => `t.${one}`).join(", ")} from ${from}), `
  );
  return from.replace(PARTS, () => haveCopies ? "" : terms.join(""));
}

/** The table of a mention, made of no more rows than the statement needs. */
export function neededOf({ table, used, pushed }: StoredRelation): Table {
  return table.narrowed?.({ used, pushed }) ?? table;
}
