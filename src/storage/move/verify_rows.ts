import type { SqlRow } from "../../ports.ts";
import { decodeMessage } from "../codec/row_codec.ts";
import { fromUtf8 } from "../codec/safe_text.ts";
import { checkRow } from "./check_row.ts";
import { ROW_TABLES, type RowTable } from "./row_table.ts";

const OUTBOX: RowTable = {
  name: "outbox",
  columns: [
    { name: "peer", kind: "text", isOptional: false },
    { name: "seq", kind: "integer", isOptional: false },
    { name: "body", kind: "text", isOptional: false },
    { name: "value", kind: "bytes", isOptional: true },
  ],
  order: ["peer", "seq"],
  hasPartition: false,
  home: "installation",
};

const SHARE = tableOf("share", "share");
const BANK = tableOf("bank", "counter");

/** A table of JSON by one key that is not moved. */
function tableOf(name: string, key: string): RowTable {
  const columns = [key, "body"].map((name) => ({ name, kind: "text", isOptional: false } as const));
  return { name, columns, order: [key], hasPartition: false, home: "installation" };
}

/** Every table whose rows have more than numbers and keys. */
export const VERIFIED_TABLES: readonly RowTable[] = [...ROW_TABLES, OUTBOX, SHARE, BANK];

/**
 * The problem of a row whose texts were read as bytes. Undefined: it can be decoded, and its key agrees
 * with its content. Changed bytes of a value cannot be detected.
 */
export function problemOf(table: RowTable, row: SqlRow): string | undefined {
  try {
    const texts = table.columns.filter(({ kind, name }) => kind === "text" && row[name] !== null)
      .map(({ name }) => [name, fromUtf8(row[name] as Uint8Array)]);
    const columns: SqlRow = { ...row, ...Object.fromEntries(texts) };
    if (table === OUTBOX) decodeMessage(columns["body"] as string, null);
    else checkRow(table, columns);
    return undefined;
  } catch (cause) {
    // Any error of a decoder means that the row is damaged.
    return cause instanceof Error ? cause.message : String(cause);
  }
}

/** The key of a row whose texts were read as bytes, for messages. */
export function keyOf({ name, order }: RowTable, row: SqlRow): string {
  const parts = order.map((column) => {
    const value = row[column];
    return value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value);
  });
  return `${name} "${parts.join(" ")}"`;
}
