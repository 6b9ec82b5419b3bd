import type { InvocationRow } from "../../model/invocation.ts";
import { partitionOfCounter, partitionOfId, partitionOfObject } from "../../model/ring.ts";
import { parseObject } from "../../model/target.ts";
import type { SqlRow } from "../../ports.ts";
import { fromJson, fromSafe } from "../codec/safe_text.ts";
import { homeOfSource } from "./sources.ts";

/** A column of a table. Its values are moved as they are, without decoding. */
export interface Column {
  readonly name: string;
  readonly kind: "text" | "integer" | "bytes";
  readonly isOptional: boolean;
}

/** A table whose rows are moved: its columns, its key, and what decides the partition of a row. */
export interface RowTable {
  readonly name: string;
  /** All columns but `partition` and `made`, which follow from the others. */
  readonly columns: readonly Column[];
  /** A column whose value follows from the others. */
  readonly made?: { readonly name: string; readonly of: (row: SqlRow) => string | null };
  /** Columns of a unique index, in its order. */
  readonly order: readonly string[];
  /** Whether the table has a column `partition`. */
  readonly hasPartition: boolean;
  /** What decides the partition of a row. Rows of the installation belong to its first partition. */
  readonly home: "id" | "object" | "counter" | "source" | "installation";
}

const text = (name: string): Column => ({ name, kind: "text", isOptional: false });
const integer = (name: string): Column => ({ name, kind: "integer", isOptional: false });
const bytes = (name: string): Column => ({ name, kind: "bytes", isOptional: false });
const optional = (column: Column): Column => ({ ...column, isOptional: true });

function table(
  name: string,
  columns: readonly Column[],
  { order, home, hasPartition = false, ...more }:
    & Pick<RowTable, "order" | "home">
    & Partial<RowTable>,
): RowTable {
  return { name, columns, order, home, hasPartition, ...more };
}

/**
 * Every table whose rows are moved. A test compares them with the migrations. The others are tables
 * that a new installation fills itself (`lease`, `meta`, `fence`, `node`, `kafka_report`), and tables that are empty
 * when rows are moved: the log, and the outbox with its sequence numbers (decision 033).
 */
export const ROW_TABLES: readonly RowTable[] = [
  table("deployment", [text("id"), text("body")], { order: ["id"], home: "installation" }),
  table("audit", [text("id"), text("body")], { order: ["id"], home: "installation" }),
  table("rule", [text("pattern"), text("body")], { order: ["pattern"], home: "installation" }),
  table("control", [text("kind"), text("name"), text("body")], {
    order: ["kind", "name"],
    home: "installation",
  }),
  table("invocation", [
    text("id"),
    text("status"),
    optional(integer("expires_at")),
    optional(integer("created_at")),
    text("body"),
    optional(bytes("output")),
  ], {
    order: ["id"],
    home: "id",
    hasPartition: true,
    made: { name: "subscription", of: subscriptionOf },
  }),
  table("journal", [text("id"), integer("first"), text("entries"), bytes("bytes")], {
    order: ["id", "first"],
    home: "id",
  }),
  table("event", [text("id"), integer("seq"), text("body")], { order: ["id", "seq"], home: "id" }),
  table("lock", [text("object"), text("holder"), integer("head"), integer("tail")], {
    order: ["object"],
    home: "object",
  }),
  table("inbox", [text("object"), integer("seq"), text("id"), optional(text("edit"))], {
    order: ["object", "seq"],
    home: "object",
  }),
  table("state", [text("object"), text("name"), bytes("value")], {
    order: ["object", "name"],
    home: "object",
  }),
  table("promise", [text("object"), text("name"), text("body"), optional(bytes("value"))], {
    order: ["object", "name"],
    home: "object",
  }),
  table("timer", [integer("due"), text("id"), text("kind"), integer("idx")], {
    order: ["partition", "due", "id", "kind", "idx"],
    home: "id",
    hasPartition: true,
  }),
  table("bucket", [text("counter"), integer("tokens"), integer("at"), integer("full_at")], {
    order: ["counter"],
    home: "counter",
    hasPartition: true,
  }),
  table("source", [text("source"), text("body")], { order: ["source"], home: "source" }),
];

const tables = new Map(ROW_TABLES.map((one) => [one.name, one]));

export function rowTable(name: string): RowTable | undefined {
  return tables.get(name);
}

/** The partition of a row, if there are `partitions`. Throws `BadId` when its id is invalid. */
export function homeOf({ home }: RowTable, row: SqlRow, partitions: number): number {
  if (home === "installation" || partitions === 1) return 0;
  if (home === "source") return homeOfSource(row);
  if (home === "id") return partitionOfId(fromSafe(row["id"] as string), partitions);
  if (home === "counter") {
    return partitionOfCounter(fromSafe(row["counter"] as string), partitions);
  }
  return partitionOfObject(parseObject(fromSafe(row["object"] as string)), partitions);
}

/** The subscription that made an invocation, from its body. */
function subscriptionOf({ body }: SqlRow): string | null {
  const text = body as string;
  // Few are of one, and parsing takes long.
  if (!text.includes('"by":"subscription"')) return null;
  const { origin } = fromJson(text) as InvocationRow;
  return origin.by === "subscription" ? origin.id : null;
}

/** The table and key of a row, for messages. */
export function nameOf({ name, columns }: RowTable, row: SqlRow): string {
  const keys = columns.filter(({ name }) => NAMING.has(name)).map(({ name }) => row[name]);
  return `${name} ${JSON.stringify(keys.join(" "))}`;
}

const NAMING: ReadonlySet<string> = new Set([
  ...["id", "object", "name", "first", "seq", "pattern", "kind", "source"],
]);
