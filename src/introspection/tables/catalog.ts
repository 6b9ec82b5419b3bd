import { didYouMean } from "../../nearest.ts";
import type { Failure } from "../../errors.ts";
import { ALIAS, OWN } from "../../names.ts";
import { printType } from "../column_type.ts";
import { cut, refused } from "../refusal.ts";
import { auditTable } from "./audit_table.ts";
import { invocationTables } from "./invocation_tables.ts";
import { journalTables } from "./journal_tables.ts";
import { kafkaTables } from "./kafka_tables.ts";
import { objectTables } from "./object_tables.ts";
import { queueEntryTables } from "./queue_entries.ts";
import { queueMetaTables } from "./queue_meta.ts";
import { schedulerTables } from "./scheduler_tables.ts";
import { schemaTables } from "./schema_tables.ts";
import { quoteText, type Table, type TableColumn } from "./table.ts";

/** Every table of the schema `public`, by name. */
export const tables: ReadonlyMap<string, Table> = new Map(
  [
    ...invocationTables,
    ...journalTables,
    ...objectTables,
    ...schemaTables,
    ...queueEntryTables,
    ...queueMetaTables,
    ...schedulerTables,
    ...kafkaTables,
    auditTable,
  ].sort((a, b) => a.name < b.name ? -1 : 1).map((table) => [table.name, table]),
);

const text = (name: string, sql: string): TableColumn => ({
  name,
  type: "str",
  sql,
  notNull: true,
});
const none = (name: string, type: TableColumn["type"]): TableColumn => ({
  name,
  type,
  sql: "null",
});
const member = (name: string) => text(name, `t.value ->> '$.${name}'`);

/** `json_each` of a constant is a table. */
function constant(name: string, rows: readonly object[], columns: readonly TableColumn[]): Table {
  const from = `json_each(${quoteText(JSON.stringify(rows))}) as t`;
  return { name, kind: "VIEW", from, columns };
}

const tablesTable = constant(
  "tables",
  [...tables.values()].map(({ name, kind }) => ({ table_name: name, table_type: kind })),
  [
    text("table_catalog", quoteText(OWN)),
    text("table_schema", "'public'"),
    member("table_name"),
    member("table_type"),
  ],
);

const columnsTable = constant(
  "columns",
  [...tables.values()].flatMap(({ name, columns }) =>
    // A name that has another spelling is known by either.
    columns.flatMap((column, place) =>
      [column.name, ...column.aliases ?? []].map((column_name) => ({
        table_name: name,
        column_name,
        ordinal_position: place,
        is_nullable: name === "sys_invocation" && column.name === "status" ? "NO" : "YES",
        data_type: printType(column.type),
      }))
    )
  ),
  [
    text("table_catalog", quoteText(OWN)),
    text("table_schema", "'public'"),
    member("table_name"),
    member("column_name"),
    { ...member("ordinal_position"), type: "u64" },
    none("column_default", "str"),
    member("is_nullable"),
    member("data_type"),
    none("character_maximum_length", "u64"),
    none("character_octet_length", "u64"),
    none("numeric_precision", "u64"),
    none("numeric_precision_radix", "u64"),
    none("numeric_scale", "u64"),
    none("datetime_precision", "u64"),
    none("interval_type", "str"),
  ],
);

const information = new Map([["tables", tablesTable], ["columns", columnsTable]]);

/** There is no table with this path: 400. `others`: names that are tables in the statement. */
export function noTable(path: readonly string[], others: readonly string[] = []): Failure {
  const typed = cut(path.join("."));
  return refused(
    `Cannot run the query: there is no table "${typed}"` +
      `${didYouMean(typed, [...tables.keys(), ...others])}; SHOW TABLES lists them`,
  );
}

/** The table with this path: `t`, `public.t`, `catalog.public.t`, `information_schema.columns`. */
export function findTable(path: readonly string[]): Table | undefined {
  const [name = "", schema = "public", catalog = OWN, ...more] = path.toReversed();
  if (more.length > 0 || (catalog !== OWN && catalog !== ALIAS)) return undefined;
  if (schema === "information_schema") return information.get(name);
  return schema === "public" ? tables.get(name) : undefined;
}
