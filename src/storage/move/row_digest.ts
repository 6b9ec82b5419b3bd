import { sha256 } from "@noble/hashes/sha2.js";
import type { SqlRow } from "../../ports.ts";
import { ROW_TABLES, type RowTable } from "./row_table.ts";

const encoder = new TextEncoder();
const TAGS = { none: 0, integer: 1, text: 2, bytes: 3 } as const;
const LANES = 8;

/** SHA-256 of a row: table, and kind, size and bytes of each column. */
export function digestRow({ name, columns }: RowTable, row: SqlRow): Uint8Array {
  const hash = sha256.create().update(encoder.encode(`${name}\n`));
  for (const column of columns) {
    const { tag, bytes } = spelled(row[column.name]);
    const head = new DataView(new ArrayBuffer(5));
    head.setUint8(0, tag);
    head.setUint32(1, bytes.length);
    hash.update(new Uint8Array(head.buffer)).update(bytes);
  }
  return hash.digest();
}

function spelled(value: unknown): { readonly tag: number; readonly bytes: Uint8Array } {
  if (value === null || value === undefined) return { tag: TAGS.none, bytes: new Uint8Array(0) };
  if (value instanceof Uint8Array) return { tag: TAGS.bytes, bytes: value };
  const tag = typeof value === "string" ? TAGS.text : TAGS.integer;
  return { tag, bytes: encoder.encode(String(value)) };
}

/** The first digits of a row's digest: enough to find a line that was damaged. */
export function shortDigest(digest: Uint8Array): string {
  return hex(digest.subarray(0, 4));
}

/** The number of rows of a table, and a digest that does not depend on their order. */
export interface TableSum {
  readonly rows: number;
  readonly digest: string;
}

/**
 * The digest of every table of an installation: the sum of the digests of its rows, so that it does not
 * depend on how rows are spread over databases. It is a sum and no XOR, in which two equal rows would
 * cancel each other out.
 */
export class Sums {
  readonly #tables = new Map(
    ROW_TABLES.map(({ name }) => [name, { rows: 0, lanes: new Uint32Array(LANES) }]),
  );

  /** Adds a row by its digest. */
  add({ name }: RowTable, digest: Uint8Array): void {
    const table = this.#tables.get(name);
    if (!table) return;
    table.rows++;
    const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength);
    // Sums are modulo 2^32, as the array truncates them.
    for (let lane = 0; lane < LANES; lane++) table.lanes[lane]! += view.getUint32(4 * lane);
  }

  /** By table, in the order of `ROW_TABLES`. */
  tables(): Record<string, TableSum> {
    return Object.fromEntries(
      [...this.#tables].map(([name, { rows, lanes }]) => [
        name,
        { rows, digest: [...lanes].map((lane) => lane.toString(16).padStart(8, "0")).join("") },
      ]),
    );
  }

  get rows(): number {
    let sum = 0;
    for (const { rows } of this.#tables.values()) sum += rows;
    return sum;
  }
}

const NO_ROWS: TableSum = { rows: 0, digest: "0".repeat(8 * LANES) };

/** The first difference between two digests, for messages. Undefined: none. */
export function difference(
  is: Readonly<Record<string, TableSum>>,
  should: Readonly<Record<string, TableSum>>,
): string | undefined {
  for (const { name } of ROW_TABLES) {
    // A dump of an earlier version lacks tables that there were none of.
    const a = is[name] ?? NO_ROWS, b = should[name] ?? NO_ROWS;
    if (a.rows !== b.rows) return `table "${name}" has ${a.rows} rows instead of ${b.rows}`;
    if (a.digest !== b.digest) return `rows of table "${name}" are not the same`;
  }
  const unknown = Object.keys(should).find((name) => is[name] === undefined);
  return unknown === undefined ? undefined : `there is no table "${unknown}"`;
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
