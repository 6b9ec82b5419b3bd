import { refused } from "../refusal.ts";
import type { Select, Selected, Sort } from "../syntax/ast.ts";
import { translate } from "./expression.ts";
import { asColumns, notOrdinal, orderSql, ordinal, type Translated } from "./query.ts";
import type { Column, Output, Scope, Value } from "./scope.ts";
import { translateSource } from "./source.ts";
import { isRowwise } from "./rowwise.ts";
import { pushDown } from "./pushdown.ts";

/** An output and what it is. */
interface Made {
  readonly output: Output;
  /** Its SQL. Makes sure that what it is made of can be read. */
  readonly read: () => string;
  readonly isUsed: () => boolean;
}

interface SelectOptions {
  readonly orderBy: readonly Sort[];
  /** Rows that are taken of it, those that are left out included. Absent: all. */
  readonly rowsMax: number | undefined;
  /** See `QueryOptions`. */
  readonly isDerived: boolean;
  /** All its rows are taken. */
  readonly isWhole: boolean;
}

/** How the columns of a SELECT are made. */
interface Making {
  /** Those of a `*` are computed only when they are used. */
  readonly isLazy: boolean;
  /** They are still known as those of the stored tables. */
  readonly isOpen: boolean;
}

/** One SELECT with the order of its query. Throws a `Failure` for what cannot be run. */
export function translateSelect(
  select: Select,
  options: SelectOptions,
  env: Scope,
): Translated {
  const source = select.from && translateSource(select.from, env);
  const scope: Scope = { ...env, columns: source?.columns ?? [], outer: outerOf(env) };
  const making = makingOf(select, options);
  const made = select.columns.flatMap((column) => outputsOf(column, scope, making));
  if (made.length === 0) throw refused("Cannot run the query: it selects nothing");
  const columns = made.map(({ output }) => output);
  refuseSameNames(columns);

  const { orderBy, rowsMax } = options;
  const where = pushDown(select, { orderBy, rowsMax, scope });
  // GROUP BY and HAVING know the names of outputs where no column has them; ORDER BY before.
  const named = made.map((one): Column => ({
    ...asColumns([one.output])[0]!,
    read: one.read,
  }));
  const behind: Scope = { ...scope, outer: { ...scope, columns: named } };
  const groups = select.groupBy.map((expr) =>
    notOrdinal(ordinal(expr, made)?.read() ?? translate(expr, behind).sql)
  );
  const having = select.having && translate(select.having, behind);
  const before: Scope = { ...scope, columns: asColumns(columns), outer: scope };
  const order = orderSql(orderBy, { columns, scope: before });
  return {
    columns,
    sql: () => {
      const used = made.filter(({ isUsed }) => isUsed());
      const list = used.map(({ read, output }) => `${read()} as ${output.ref}`).join(", ");
      return `select ${select.distinct ? "distinct " : ""}${list || "0"}` +
        (source ? ` from ${source.sql()}` : "") +
        (where ? ` where ${where.sql}` : "") +
        (groups.length > 0 ? ` group by ${groups.join(", ")}` : "") +
        (having ? ` having ${having.sql}` : "") + order;
    },
  };
}

function makingOf(
  select: Select,
  { orderBy, isDerived, isWhole }: SelectOptions,
): Making {
  return {
    isLazy: isDerived && !select.distinct,
    isOpen: isDerived && isWhole && isRowwise(select, orderBy),
  };
}

/** The query around: what a query sees of it are its columns, and those around it. */
function outerOf(env: Scope): Scope | undefined {
  return env.columns.length > 0 ? env : env.outer;
}

function outputsOf(selected: Selected, scope: Scope, { isLazy, isOpen }: Making): Made[] {
  const { newName } = scope.statement;
  const storedIn = (column: Column | undefined) => {
    // A column of a query around this one says nothing of the rows of this one.
    const stored = isOpen && column && scope.columns.includes(column) ? column.stored : undefined;
    return stored && { stored: { ...stored, isDerived: true } };
  };
  if (selected.kind === "one") {
    const value = translate(selected.expr, scope);
    const output = outputOf(value, selected.alias, newName("c"));
    return [madeOf({ ...output, ...storedIn(value.column) }, () => value.sql, { scope })];
  }
  const { qualifier } = selected;
  const columns = scope.columns.filter((column) =>
    qualifier === undefined ? !column.isMerged : column.qualifier === qualifier
  );
  if (columns.length === 0) {
    throw refused(`Cannot run the query: there are no columns of "${qualifier ?? "*"}"`);
  }
  return columns.map((column) => {
    const { read, name, qualifier, aliases, type, notNull } = column;
    const output = { name, qualifier, aliases, type, notNull, ref: newName("c") };
    return madeOf({ ...output, ...storedIn(column) }, read, { scope, isLazy });
  });
}

/** An output, which is computed when it is used first, or in any case. */
function madeOf(
  output: Output,
  compute: () => string,
  { scope: { statement }, isLazy = false }: { readonly scope: Scope; readonly isLazy?: boolean },
): Made {
  let sql: string | undefined;
  const read = () => {
    if (sql === undefined) {
      sql = compute();
      statement.weights.define(output.ref, sql);
    }
    return sql;
  };
  if (!isLazy) read();
  return { output: { ...output, use: read }, read, isUsed: () => sql !== undefined };
}

/** A column keeps what it is called by; anything else is called what it is. */
function outputOf(value: Value, alias: string | undefined, ref: string): Output {
  const { type, notNull = false, column } = value;
  const known = { type, notNull, ref };
  if (alias !== undefined) return { ...known, name: alias };
  if (!column) return { ...known, name: value.name };
  return { ...known, name: column.name, qualifier: column.qualifier };
}

function refuseSameNames(outputs: readonly Output[]): void {
  const seen = new Set<string>();
  for (const { qualifier, name } of outputs) {
    const full = JSON.stringify([qualifier, name]);
    if (seen.has(full)) {
      throw refused(`Cannot run the query: two columns are called "${name}", use AS`);
    }
    seen.add(full);
  }
}
