import { assert } from "../../assert.ts";
import { concatBytes } from "../../bytes.ts";
import { groupOf, type Item, itemOf, type Rows, type Table, type Write } from "../../model/rows.ts";
import type { Blob } from "../codec/blob.ts";
import type { Layer } from "../overlay/layer.ts";
import { type LargeRef, partOf, printRef } from "../codec/large_ref.ts";
import { decode, encode } from "../codec/row_codec.ts";
import { fromJson, fromUtf8, quote, toJson } from "../codec/safe_text.ts";

/** One row of the write-ahead log: the writes of a commit (or a part of them), in order. */
export interface LogRow {
  /**
   * JSON: an array of `[table, row, size, id]` for puts and `[table, [group, item]]` for drops. A put
   * whose bytes are part of an earlier put's has a fifth element: their offset in `bytes`. A put whose
   * bytes are part of a large value has `[id of the value, from, size]` instead of the size.
   */
  readonly rows: string;
  /** The bytes of all puts that have bytes of their own, in order. */
  readonly bytes: Blob | null;
}

type Place = readonly [value: string, from: number, size: number];
type Put = readonly [
  table: Table,
  row: object,
  size: number | Place | null,
  id?: string,
  from?: number,
];
type Drop = readonly [table: Table, key: readonly [group: string, item: Item]];

/** Options of `record`. */
export interface Recording {
  /** Bytes up to which writes share a row of the log. */
  readonly rowBytesMax: number;
  /** Finds the large value that contains these bytes. Absent: no value is large. */
  readonly largeOf?: (bytes: Uint8Array) => LargeRef | undefined;
}

/**
 * Encodes a commit as rows of the log, and enters its writes into `layer`. A commit larger than
 * `rowBytesMax` becomes several rows; a row is larger only if a single write is. No writes: no rows.
 */
export function record(
  writes: readonly Write[],
  layer: Layer,
  { rowBytesMax, largeOf }: Recording,
): LogRow[] {
  const rows: LogRow[] = [];
  let text = "";
  let blobs = new Blobs();
  const flush = (): void => {
    if (text !== "") rows.push({ rows: `[${text}]`, bytes: blobs.joined() });
    text = "";
    blobs = new Blobs();
  };
  for (const write of inSharingOrder(writes)) {
    const { json, bytes } = recordWrite(write, layer, largeOf);
    const from = bytes && blobs.find(bytes);
    const more = json.length + (from === undefined ? bytes?.length ?? 0 : 0);
    // A put can refer to bytes of its own row only.
    if (from === undefined && text.length + blobs.size + more > rowBytesMax) flush();
    const entry = from === undefined ? `${json}]` : `${json},${from}]`;
    text = text === "" ? entry : `${text},${entry}`;
    if (bytes && bytes.length > 0 && from === undefined) blobs.add(bytes);
  }
  flush();
  return rows;
}

/** Smaller outputs are written twice: finding the journal entry that contains them costs more. */
const SHARED_BYTES_MIN = 4096;

/**
 * Moves each large output right after the journal entry that it is a view of, so that its bytes are
 * written once. Writes of one row keep their order: an output and its entry come from one turn, which
 * writes each row once.
 */
function inSharingOrder(writes: readonly Write[]): Iterable<Write> {
  if (!writes.some((write) => outputOf(write))) return writes;
  const entries = new Map<ArrayBufferLike, Write>();
  for (const write of writes) {
    const { table, row, drop } = write;
    if (table !== "journal" || drop) continue;
    const { entry } = row as Rows["journal"];
    if (entry.kind === "command") entries.set(entry.bytes.buffer, write);
  }
  const ordered = new Set<Write>();
  for (const write of writes) {
    const output = outputOf(write);
    const entry = output && entries.get(output.buffer);
    if (entry) ordered.add(entry);
    ordered.add(write);
  }
  return ordered;
}

/** The output that a write stores, if it is large. */
function outputOf({ table, row, drop }: Write): Uint8Array | undefined {
  if (table !== "invocation" || drop) return undefined;
  const { output } = row as Rows["invocation"];
  return output && output.length >= SHARED_BYTES_MIN ? output : undefined;
}

/** The bytes of one row of the log while it is being written. */
class Blobs {
  size = 0;
  readonly #all: Uint8Array[] = [];
  /** The bytes that were added last, and their offset in the row. */
  #last: { readonly bytes: Uint8Array; readonly at: number } | undefined;

  add(bytes: Uint8Array): void {
    this.#all.push(bytes);
    this.#last = { bytes, at: this.size };
    this.size += bytes.length;
  }

  /** The offset of these bytes in the row, if they are a view of those that were added last. */
  find({ buffer, byteOffset, length }: Uint8Array): number | undefined {
    const last = this.#last;
    if (!last || last.bytes.buffer !== buffer || length === 0) return undefined;
    const offset = byteOffset - last.bytes.byteOffset;
    return offset >= 0 && offset + length <= last.bytes.length ? last.at + offset : undefined;
  }

  /** All bytes, concatenated. Null: there are none. The caller must not change them. */
  joined(): Blob | null {
    const [only, ...others] = this.#all;
    if (!only) return null;
    const fillsBuffer = only.buffer.byteLength === only.length;
    return others.length === 0 && fillsBuffer ? only as Blob : concatBytes(this.#all);
  }
}

/** `json`: without the closing bracket; a put has all four elements. */
function recordWrite(
  { table, row, drop }: Write,
  layer: Layer,
  largeOf: Recording["largeOf"],
): { json: string; bytes: Uint8Array | undefined } {
  const group = groupOf(table, row);
  const item = itemOf(table, row);
  if (drop) {
    layer.drop(table, group, item);
    return { json: `["${table}",${toJson([group, item])}`, bytes: undefined };
  }
  const encoded = encode(table, row);
  const { text, bytes } = encoded;
  const large = bytes && largeOf?.(bytes);
  layer.put(table, large ? { ...encoded, large } : encoded, { group, item });
  const size = large ? printRef(large) : bytes ? bytes.length : null;
  const id = table === "journal" ? quote(group) : '""';
  return { json: `["${table}",${text},${size},${id}`, bytes: large ? undefined : bytes };
}

/** The large values by their ids. */
export type LargeBytes = ReadonlyMap<string, Uint8Array>;

/** The parts of large values to which a row of the log refers. */
export function largeIn({ rows }: Pick<LogRow, "rows">): LargeRef[] {
  // Parsing the JSON twice would double what a recovery costs.
  if (!REFERENCE.test(rows)) return [];
  const refs = (fromJson(rows) as (Put | Drop)[]).map((entry) =>
    entry.length === 2 ? undefined : largeRef(entry[2])
  );
  return refs.filter((ref) => ref !== undefined);
}

/** Matches every row of the log that has a reference, and rarely another one. */
const REFERENCE = /,\["\d+\/\d+\/\d+",/;

/**
 * Applies a row of the log to `layer`, as `record` did when it was written. `values`: the large values
 * that `largeIn` names. Throws an error of the decoder when the row is damaged.
 */
export function replay(
  { rows, bytes }: Pick<LogRow, "rows"> & { readonly bytes: Uint8Array | null },
  layer: Layer,
  values: LargeBytes = new Map(),
): void {
  let at = 0;
  for (const entry of fromJson(rows) as (Put | Drop)[]) {
    if (entry.length === 2) {
      const [table, [group, item]] = entry;
      layer.drop(table, group, item);
      continue;
    }
    const [table, json, size, id = "", from] = entry;
    const large = largeRef(size);
    const own = large
      ? partOf(values.get(large.id), large)
      : typeof size === "number"
      ? slice(bytes, from ?? at, size)
      : undefined;
    assert(!large || own, "A row of the log refers to a value that is there");
    if (from === undefined && typeof size === "number") at += size;
    const row = decode(table, json, { bytes: own, id });
    const encoded = { ...encode(table, row), large };
    layer.put(table, encoded, { group: groupOf(table, row), item: itemOf(table, row) });
  }
}

function largeRef(size: Put[2]): LargeRef | undefined {
  if (typeof size !== "object" || size === null) return undefined;
  const [id, from, length] = size;
  return { id, from, size: length };
}

/** The tables and groups that a row of the log names, for a report. Empty when it cannot be read. */
export function keysIn(rows: unknown): string[] {
  let entries: unknown;
  try {
    entries = fromJson(fromUtf8(rows as Uint8Array));
  } catch (cause) {
    // A value that is not bytes, not UTF-8 or not JSON names no group.
    if (!(cause instanceof SyntaxError || cause instanceof TypeError)) throw cause;
  }
  if (!Array.isArray(entries)) return [];
  return entries.filter(Array.isArray).flatMap((entry: unknown[]) => {
    const [table, row, , id] = entry as [Table, unknown, unknown, unknown];
    if (typeof row !== "object" || row === null) return [];
    const group = Array.isArray(row) ? row[0] : id || groupOf(table, row as Rows[Table]);
    return typeof group === "string" ? [`${table} ${group}`] : [];
  });
}

function slice(bytes: Uint8Array | null, from: number, size: number): Uint8Array {
  if (size === 0) return new Uint8Array(0);
  assert(bytes && from + size <= bytes.length, "A row of the log holds all its bytes");
  return bytes.slice(from, from + size);
}
