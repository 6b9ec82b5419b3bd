import { sql } from "kysely";
import { concatBytes } from "../../bytes.ts";
import type { SqlClient, SqlRow } from "../../ports.ts";
import { xxh32 } from "../codec/checksum.ts";
import { type LargeRef, partOf, readRef } from "../codec/large_ref.ts";
import { compile, statement } from "../codec/sql_text.ts";
import { BYTE_COLUMNS } from "../schema/large_tables.ts";

/** Pieces of one read: commits and other reads can run between two of them. */
const PAGE_PIECES = 8;

const PIECES = compile(sql`select seq, bytes, sum from large_piece
  where id = ?1 and seq >= ?2 order by seq limit ?3`);

/** Values that are read together: up to this size each, and so many of them. */
const SMALL_BYTES_MAX = 256 * 1024;
const GROUP_VALUES = 100;
const GROUP_BYTES = 2 * 1024 * 1024;
/** So few of them are read where they are wanted, without another thread. */
const QUICK_VALUES = 4;

const TOGETHER = compile(sql`select id, seq, bytes, sum from large_piece
  where id in (select value from json_each(?1)) and seq < 2 order by id, seq`);

const BYTES = [...new Set(BYTE_COLUMNS.map(([, column]) => column))];

/** A large value lacks pieces, or holds other bytes than were written. */
export class DamagedValue extends Error {
  constructor(id: string, problem: string) {
    super(`Cannot read the large value ${id}: ${problem}`);
    this.name = "DamagedValue";
  }
}

function checkedPiece(id: string, { seq, bytes, sum }: SqlRow, number: number): Uint8Array {
  if (seq !== number) throw new DamagedValue(id, `piece ${number} is missing`);
  if (!(bytes instanceof Uint8Array) || xxh32(bytes) !== sum) {
    throw new DamagedValue(id, `piece ${number} does not match its checksum`);
  }
  return bytes;
}

/** The bytes of a whole large value. Rejects with `DamagedValue`, and as the database does. */
export async function readLarge(client: SqlClient, id: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for (;;) {
    const page = statement(PIECES, id, pieces.length, PAGE_PIECES);
    const [rows = []] = await client.batch("read", [page]);
    for (const row of rows) pieces.push(checkedPiece(id, row, pieces.length));
    if (rows.length < PAGE_PIECES) return concatBytes(pieces);
  }
}

/** Values by their ids: their bytes, or what is wrong with them. */
export type FoundValues = ReadonlyMap<string, Uint8Array | DamagedValue>;

/**
 * The values of these references, small ones several at a time. Rejects as the database does.
 */
export async function readValues(
  client: SqlClient,
  refs: readonly LargeRef[],
): Promise<FoundValues> {
  const found = new Map<string, Uint8Array | DamagedValue>();
  const open = new Map(refs.map((ref) => [ref.id, ref]));
  for (const ids of inGroups([...open.values()])) await readTogether(client, ids, found);
  for (const id of open.keys()) {
    if (!found.has(id)) found.set(id, await readLarge(client, id).catch(damageOf));
  }
  return found;
}

/** Ids of small values, in groups of limited size. */
function* inGroups(refs: readonly LargeRef[]): Generator<string[]> {
  let ids: string[] = [];
  let bytes = 0;
  for (const { id, from, size } of refs) {
    if (from + size > SMALL_BYTES_MAX) continue;
    if (ids.length === GROUP_VALUES || bytes + from + size > GROUP_BYTES) {
      yield ids;
      ids = [];
      bytes = 0;
    }
    ids.push(id);
    bytes += from + size;
  }
  if (ids.length > 0) yield ids;
}

/** Enters the values that have one piece each. A reference does not tell how long its value is. */
async function readTogether(
  client: SqlClient,
  ids: readonly string[],
  found: Map<string, Uint8Array | DamagedValue>,
): Promise<void> {
  const read = { ...statement(TOGETHER, JSON.stringify(ids)), isQuick: ids.length <= QUICK_VALUES };
  const [rows = []] = await client.batch("read", [read]);
  // Those with a second piece are left out: they are read one by one.
  const firsts = new Map(rows.map((row) => [row["id"] as string, row]));
  for (const { id, seq } of rows) if (seq !== 0) firsts.delete(id as string);
  for (const [id, first] of firsts) {
    try {
      found.set(id, checkedPiece(id, first, 0));
    } catch (cause) {
      found.set(id, damageOf(cause));
    }
  }
}

function damageOf(cause: unknown): DamagedValue {
  if (cause instanceof DamagedValue) return cause;
  throw cause;
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
  const refs = results.flat().map(refOf).filter((ref) => ref !== undefined);
  const found = await readValues(client, refs);
  return results.map((rows) => rows.map((row) => wholeRow(row, found)));
}

function refOf({ large }: SqlRow): LargeRef | undefined {
  return typeof large === "string" ? readRef(large) : undefined;
}

function wholeRow(row: SqlRow, found: FoundValues): SqlRow {
  const column = BYTES.find((name) => name in row);
  if (typeof row["large"] !== "string" || column === undefined) return row;
  const ref = refOf(row);
  const value = ref && found.get(ref.id);
  return { ...row, [column]: value instanceof Uint8Array && ref && partOf(value, ref) || null };
}
