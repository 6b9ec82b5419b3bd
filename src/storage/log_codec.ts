import { assert } from "../assert.ts";
import { concatBytes } from "../bytes.ts";
import { groupOf, type Item, itemOf, type Rows, type Table, type Write } from "../model/rows.ts";
import type { Blob } from "./blob.ts";
import type { Layer } from "./layer.ts";
import { decode, encode } from "./row_codec.ts";
import { fromJson, fromUtf8, quote, toJson } from "./safe_text.ts";

/** One row of the log: the writes of a commit (or a part of them), in order. */
export interface LogRow {
  /** JSON: an array of `[table, row, size, id]` for puts and `[table, [group, item]]` for drops. */
  readonly rows: string;
  /** The bytes of all puts that have any, in order. */
  readonly bytes: Blob | null;
}

type Put = readonly [table: Table, row: object, size: number | null, id?: string];
type Drop = readonly [table: Table, key: readonly [group: string, item: Item]];

/**
 * Writes a commit down, and into `layer`. Commits larger than `rowBytesMax` become several rows,
 * none of which is larger unless a single write is. No writes: no rows.
 */
export function record(
  writes: readonly Write[],
  layer: Layer,
  { rowBytesMax }: { readonly rowBytesMax: number },
): LogRow[] {
  const rows: LogRow[] = [];
  let text = "";
  let blobs: Uint8Array[] = [];
  let size = 0;
  const flush = (): void => {
    if (text !== "") {
      rows.push({ rows: `[${text}]`, bytes: blobs.length ? concatBytes(blobs) : null });
    }
    text = "";
    blobs = [];
    size = 0;
  };
  for (const write of writes) {
    const { json, bytes } = recordWrite(write, layer);
    const more = json.length + (bytes?.length ?? 0);
    if (size + more > rowBytesMax) flush();
    text = text === "" ? json : `${text},${json}`;
    size += more;
    if (bytes && bytes.length > 0) blobs.push(bytes);
  }
  flush();
  return rows;
}

function recordWrite(
  { table, row, drop }: Write,
  layer: Layer,
): { json: string; bytes: Uint8Array | undefined } {
  const group = groupOf(table, row);
  const item = itemOf(table, row);
  if (drop) {
    layer.drop(table, group, item);
    return { json: `["${table}",${toJson([group, item])}]`, bytes: undefined };
  }
  const encoded = encode(table, row);
  layer.put(table, encoded, { group, item });
  const { text, bytes } = encoded;
  const size = bytes ? bytes.length : null;
  const id = table === "journal" ? `,${quote(group)}` : "";
  return { json: `["${table}",${text},${size}${id}]`, bytes };
}

/** Applies a row of the log to `layer`, as `record` did when it was written. */
export function replay({ rows, bytes }: { rows: string; bytes: Uint8Array | null }, layer: Layer) {
  let at = 0;
  for (const entry of fromJson(rows) as (Put | Drop)[]) {
    if (entry.length === 2) {
      const [table, [group, item]] = entry;
      layer.drop(table, group, item);
      continue;
    }
    const [table, json, size, id = ""] = entry;
    const own = size === null ? undefined : slice(bytes, at, size);
    at += size ?? 0;
    const row = decode(table, json, { bytes: own, id });
    layer.put(table, encode(table, row), { group: groupOf(table, row), item: itemOf(table, row) });
  }
}

/** The tables and groups that a row of the log names, for people. None when it cannot be read. */
export function keysIn(rows: unknown): string[] {
  let entries: unknown;
  try {
    entries = fromJson(fromUtf8(rows as Uint8Array));
  } catch (cause) {
    // What is not bytes, not text or not JSON names nothing.
    if (!(cause instanceof SyntaxError || cause instanceof TypeError)) throw cause;
  }
  if (!Array.isArray(entries)) return [];
  return entries.filter(Array.isArray).flatMap((entry: unknown[]) => {
    const [table, row, , id] = entry as [Table, unknown, unknown, unknown];
    if (typeof row !== "object" || row === null) return [];
    const group = Array.isArray(row) ? row[0] : id ?? groupOf(table, row as Rows[Table]);
    return typeof group === "string" ? [`${table} ${group}`] : [];
  });
}

function slice(bytes: Uint8Array | null, from: number, size: number): Uint8Array {
  if (size === 0) return new Uint8Array(0);
  assert(bytes && from + size <= bytes.length, "A row of the log holds all its bytes");
  return bytes.slice(from, from + size);
}
