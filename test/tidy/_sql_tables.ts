import { type ColumnType, printType } from "../../src/introspection/column_type.ts";
import { tableNotes } from "../../src/introspection/tables/about.ts";
import { tables } from "../../src/introspection/tables/catalog.ts";
import type { TableColumn } from "../../src/introspection/tables/table.ts";

/** What numbers and bytes count. Columns of other types say it by their type. */
const UNITS: Readonly<Partial<Record<ColumnType, string>>> = { ts: "UTC, ms", dur: "ms" };

/** The tables that can be asked for, as `docs/sql.md` lists them. A test keeps the two the same. */
export function describeTables(): string {
  const noted = [...tables.values()].filter(({ name }) => !isEmpty(name));
  const empty = [...tables.keys()].filter(isEmpty);
  const sections = noted.map(({ name, columns }) =>
    [
      `### ${name}`,
      "",
      tableNotes[name]?.rows,
      "",
      "| Column | Type | What it holds |",
      "| --- | --- | --- |",
      ...columns.map((column) => rowOf(name, column)),
    ].join("\n")
  );
  return [
    ...sections,
    `### Tables without rows\n\n${empty.map((name) => `\`${name}\``).join(", ")}. ` +
    tableNotes[empty[0] ?? ""]?.rows,
  ].join("\n\n");
}

/** Columns that are not described, and descriptions of columns that there are not. */
export function misdescribed(): string[] {
  return [...tables.values()].flatMap(({ name, columns }) => {
    const notes = tableNotes[name];
    if (!notes) return [name];
    if (isEmpty(name)) return [];
    const known = columns.map((column) => column.name);
    return [
      ...known.filter((column) => !(column in notes.columns)),
      ...Object.keys(notes.columns).filter((column) => !known.includes(column)),
    ].map((column) => `${name}.${column}`);
  });
}

function isEmpty(name: string): boolean {
  return Object.keys(tableNotes[name]?.columns ?? {}).length === 0;
}

function rowOf(table: string, { name, type, values }: TableColumn): string {
  const unit = /_length$/.test(name) ? "bytes" : UNITS[type];
  const shown = `${printType(type).replace(/\(.*/, "")}${unit ? `, ${unit}` : ""}`;
  const listed = values ? ` One of ${values.map((value) => `\`${value}\``).join(", ")}.` : "";
  const about = tableNotes[table]?.columns[name] ?? "";
  return `| \`${name}\` | ${shown} | ${about}${listed} |`;
}
