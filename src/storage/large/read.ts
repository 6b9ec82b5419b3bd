import { sql } from "kysely";
import { concatBytes } from "../../bytes.ts";
import type { SqlClient, SqlRow } from "../../ports.ts";
import { xxh32 } from "../codec/checksum.ts";
import { partOf, readRef } from "../codec/large_ref.ts";
import { compile, statement } from "../codec/sql_text.ts";
import { BYTE_COLUMNS } from "../schema/large_tables.ts";

/** Pieces of one read: commits and other reads can run between two of them. */
const PAGE_PIECES = 8;

const PIECES = compile(sql`select seq, bytes, sum from large_piece
  where id = ?1 and seq >= ?2 order by seq limit ?3`);

const BYTES = [...new Set(BYTE_COLUMNS.map(([, column]) => column))];

/** A large value lacks pieces, or holds other bytes than were written. */
export class DamagedValue extends Error {
  constructor(id: string, problem: string) {
    super(`Cannot read the large value ${id}: ${problem}`);
    this.name = "DamagedValue";
  }
}

/** The bytes of a whole large value. Rejects with `DamagedValue`, and as the database does. */
export async function readLarge(client: SqlClient, id: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for (;;) {
    const page = statement(PIECES, id, pieces.length, PAGE_PIECES);
    const [rows = []] = await client.batch("read", [page]);
    for (const { seq, bytes, sum } of rows) {
      if (seq !== pieces.length) throw new DamagedValue(id, `piece ${pieces.length} is missing`);
      if (!(bytes instanceof Uint8Array) || xxh32(bytes) !== sum) {
        throw new DamagedValue(id, `piece ${seq} does not match its checksum`);
      }
      pieces.push(bytes);
    }
    if (rows.length < PAGE_PIECES) return concatBytes(pieces);
  }
}

/** Whether any of these rows refers to a large value. */
export function haveLarge(results: readonly (readonly SqlRow[])[]): boolean {
  return results.some((rows) => rows.some(({ large }) => large != null));
}

/**
 * The same rows, with the bytes of their large values. A row whose value is damaged gets no bytes, so
 * that decoding it fails. No fold may run meanwhile, since it may delete values.
 */
export async function withLarge(
  client: SqlClient,
  results: readonly (readonly SqlRow[])[],
): Promise<SqlRow[][]> {
  const values = new Map<string, Uint8Array | undefined>();
  const whole: SqlRow[][] = [];
  for (const rows of results) {
    const all: SqlRow[] = [];
    for (const row of rows) all.push(await wholeRow(client, row, values));
    whole.push(all);
  }
  return whole;
}

async function wholeRow(
  client: SqlClient,
  row: SqlRow,
  values: Map<string, Uint8Array | undefined>,
): Promise<SqlRow> {
  const { large } = row;
  const column = BYTES.find((name) => name in row);
  if (typeof large !== "string" || column === undefined) return row;
  const ref = readRef(large);
  if (ref && !values.has(ref.id)) {
    values.set(ref.id, await readLarge(client, ref.id).catch(undamaged));
  }
  return { ...row, [column]: ref && partOf(values.get(ref.id), ref) || null };
}

function undamaged(cause: unknown): undefined {
  if (!(cause instanceof DamagedValue)) throw cause;
  return undefined;
}
