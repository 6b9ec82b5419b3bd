/**
 * SQL with its values escaped. Only this file makes literals, so that no page has to think of them:
 * ``sql`SELECT id FROM sys_invocation WHERE target_service_key = ${key}` ``.
 */
export class Sql {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type SqlValue = string | number | bigint | boolean | null | Date | Sql | readonly SqlValue[];

/** A statement or a part of one. Values become literals, an array a list in parentheses, `Sql` itself. */
export function sql(strings: TemplateStringsArray, ...values: readonly SqlValue[]): Sql {
  const text = strings.reduce((before, part, at) => before + literal(values[at - 1]!) + part);
  return new Sql(text.trim());
}

/** Parts with `separator` between them, such as `join(conditions, " AND ")`. */
export function join(parts: readonly Sql[], separator: string): Sql {
  return new Sql(parts.map(({ text }) => text).join(separator));
}

/** `WHERE` and all conditions, or nothing without any. */
export function where(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? sql`` : sql`WHERE ${join(conditions, " AND ")}`;
}

/** A name of a column or table that is not known when this is written. */
export function name(identifier: string): Sql {
  return new Sql(`"${identifier.replaceAll('"', '""')}"`);
}

/** Whether a column contains a text, upper or lower case alike. */
export function contains(column: Sql, text: string): Sql {
  const escaped = text.replaceAll(/[\\%_]/g, (char) => `\\${char}`);
  return sql`${column} ILIKE ${`%${escaped}%`}`;
}

function literal(value: SqlValue): string {
  if (value instanceof Sql) return value.text;
  if (value instanceof Date) return literal(value.toISOString());
  if (Array.isArray(value)) return `(${value.map(literal).join(", ")})`;
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  if (value === null) return "NULL";
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new RangeError(`Cannot write ${value} in SQL`);
  }
  return String(value);
}
