import { refused } from "../refusal.ts";
import type { Select, Selected, Sort } from "../syntax/ast.ts";
import { translate } from "./expression.ts";
import { asColumns, notOrdinal, orderSql, ordinal, type Translated } from "./query.ts";
import type { Column, Output, Scope, Value } from "./scope.ts";
import { translateSource } from "./source.ts";
import { storedOf, tell } from "./told.ts";
import { tellTop } from "./top.ts";
import { want } from "./want.ts";

/** An output and what it is. */
interface Made {
  readonly output: Output;
  readonly sql: string;
}

interface SelectOptions {
  readonly orderBy: readonly Sort[];
  /** Rows that are taken of it, those that are left out included. Absent: all. */
  readonly rowsMax: number | undefined;
}

/** One SELECT with the order of its query. Throws a `Failure` for what cannot be run. */
export function translateSelect(
  select: Select,
  { orderBy, rowsMax }: SelectOptions,
  env: Scope,
): Translated {
  const source = select.from && translateSource(select.from, env);
  const scope: Scope = { ...env, columns: source?.columns ?? [], outer: outerOf(env) };
  const made = select.columns.flatMap((column) => outputsOf(column, scope));
  if (made.length === 0) throw refused("Cannot run the query: it selects nothing");
  const columns = made.map(({ output }) => output);
  refuseSameNames(columns);
  for (const { output, sql } of made) env.statement.weights.define(output.ref, sql);

  const where = whereOf(select, { orderBy, rowsMax, scope });
  // GROUP BY and HAVING know the names of outputs where no column has them; ORDER BY before.
  const named = made.map((one): Column => ({
    ...asColumns([one.output])[0]!,
    read: () => one.sql,
  }));
  const behind: Scope = { ...scope, outer: { ...scope, columns: named } };
  const groups = select.groupBy.map((expr) =>
    notOrdinal(ordinal(expr, made)?.sql ?? translate(expr, behind).sql)
  );
  const having = select.having && translate(select.having, behind);
  const before: Scope = { ...scope, columns: asColumns(columns), outer: scope };
  const order = orderSql(orderBy, { columns, scope: before });
  return {
    columns,
    sql: () => {
      const list = made.map(({ sql, output }) => `${sql} as ${output.ref}`).join(", ");
      return `select ${select.distinct ? "distinct " : ""}${list}` +
        (source ? ` from ${source.sql()}` : "") +
        (where ? ` where ${where.sql}` : "") +
        (groups.length > 0 ? ` group by ${groups.join(", ")}` : "") +
        (having ? ` having ${having.sql}` : "") + order;
    },
  };
}

/** What follows WHERE, after telling the tables what it says of them. */
function whereOf(
  select: Select,
  { orderBy, rowsMax, scope }: SelectOptions & { readonly scope: Scope },
): Value | undefined {
  const where = select.where && translate(select.where, scope);
  // What it says of a query around this one need not hold for all rows of that one.
  const own = storedOf(scope.columns);
  if (where?.facts) want(where.facts, own);
  tell(where?.told, own);
  tellTop(select, { orderBy, rowsMax, where, scope, of: [...own] });
  return where;
}

/** The query around: what a query sees of it are its columns, and those around it. */
function outerOf(env: Scope): Scope | undefined {
  return env.columns.length > 0 ? env : env.outer;
}

function outputsOf(selected: Selected, scope: Scope): Made[] {
  const { newName } = scope.statement;
  if (selected.kind === "one") {
    const value = translate(selected.expr, scope);
    return [{ sql: value.sql, output: outputOf(value, selected.alias, newName("c")) }];
  }
  const { qualifier } = selected;
  const columns = scope.columns.filter((column) =>
    qualifier === undefined ? !column.isMerged : column.qualifier === qualifier
  );
  if (columns.length === 0) {
    throw refused(`Cannot run the query: there are no columns of "${qualifier ?? "*"}"`);
  }
  return columns.map(({ read, name, qualifier, aliases, type, notNull }) => ({
    sql: read(),
    output: { name, qualifier, aliases, type, notNull, ref: newName("c") },
  }));
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
