import { refused } from "../refusal.ts";
import type { Source } from "../syntax/ast.ts";
import { compare } from "./compare.ts";
import { translate } from "./expression.ts";
import { type Column, findColumn, type Scope } from "./scope.ts";
import { type Relation, translateSource } from "./source.ts";
import { storedOf } from "./pushdown_filter.ts";
import { pushKeys } from "./pushdown_keys.ts";

type Join = Extract<Source, { kind: "join" }>;

interface Sides {
  readonly left: readonly Column[];
  readonly right: readonly Column[];
}

/** Two relations side by side. Throws a `Failure` for columns that are not there. */
export function translateJoin(join: Join, scope: Scope): Relation {
  const [left, right] = [translateSource(join.left, scope), translateSource(join.right, scope)];
  const sides = { left: left.columns, right: right.columns };
  refuseSameNames(sides);
  const shared = join.using === "natural" ? sharedNames(sides) : join.using ?? [];
  const { columns, conditions } = merge(join.how, sides, { names: shared, scope });
  if (join.on) conditions.push(translateOn(join, sides, scope));
  const on = conditions.length > 0 ? ` on (${conditions.join(" and ")})` : "";
  // SQLite would reorder what is asked to be crossed the least; a plain join is free to be.
  const words = join.how === "cross" || join.how === "inner" ? "join" : `${join.how} join`;
  const rightSql = () => join.right.kind === "join" ? `(${right.sql()})` : right.sql();
  return {
    columns: nullable(join.how, columns, sides),
    sql: () => `${left.sql()} ${words} ${rightSql()}${on}`,
  };
}

function translateOn({ how, on }: Join, { left, right }: Sides, scope: Scope): string {
  const inner = { ...scope, columns: [...left, ...right], outer: scope.outer };
  const { sql, facts } = translate(on!, inner);
  // Of a row that is kept without a partner, the condition need not be true.
  if (facts) {
    const both = [...left, ...right];
    const kept = how === "left" ? right : how === "right" ? left : how === "full" ? [] : both;
    pushKeys(facts, storedOf(kept));
  }
  return sql;
}

/** Columns in common become one: the left one, the right one or, of a full join, either. */
function merge(
  how: Join["how"],
  { left, right }: Sides,
  { names, scope }: { readonly names: readonly string[]; readonly scope: Scope },
): { columns: Column[]; conditions: string[] } {
  const hide = (columns: readonly Column[], isHidden: boolean) =>
    columns.map((one) => isHidden && names.includes(one.name) ? { ...one, isMerged: true } : one);
  const either: Column[] = [];
  const conditions = names.map((name) => {
    const [first, second] = [left, right].map((columns) =>
      findColumn({ ...scope, columns, outer: undefined }, [name])
    ) as [Column, Column];
    const [one, other] = [first, second].map((column) => ({ ...column, sql: column.read() }));
    if (how === "full") {
      const { name, type } = first;
      const sql = `coalesce(${one!.sql}, ${other!.sql})`;
      either.push({ qualifier: undefined, name, type, notNull: false, read: () => sql });
    }
    return compare("=", { ...one!, name }, { ...other!, name }).sql;
  });
  return {
    columns: [
      ...either,
      ...hide(left, how === "full" || how === "right"),
      ...hide(right, how !== "right"),
    ],
    conditions,
  };
}

/** What may have no partner may be null, and what is known of a table is not known of it. */
function nullable(how: Join["how"], columns: readonly Column[], { left, right }: Sides): Column[] {
  const loose = [
    ...how === "left" || how === "full" ? right : [],
    ...how === "right" || how === "full" ? left : [],
  ];
  const names = new Set(loose.map(({ read }) => read));
  return columns.map((one) => names.has(one.read) ? { ...one, notNull: false } : one);
}

function sharedNames({ left, right }: Sides): string[] {
  const names = new Set(right.map(({ name }) => name));
  return left.filter(({ name, isMerged }) => !isMerged && names.has(name)).map(({ name }) => name);
}

function refuseSameNames({ left, right }: Sides): void {
  const known = new Set(left.map(({ qualifier }) => qualifier));
  const twice = right.find(({ qualifier }) => qualifier !== undefined && known.has(qualifier));
  if (twice) {
    throw refused(`Cannot run the query: two tables are called "${twice.qualifier}", use AS`);
  }
}
