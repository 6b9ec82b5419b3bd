import { sql } from "kysely";
import type { Lease, Statement } from "../../ports.ts";
import { xxh32 } from "../codec/checksum.ts";
import { compile, statement } from "../codec/sql_text.ts";

/** Contains its fence, and is idempotent: an id is used for one value only. */
const PUT_PIECE = compile(sql`insert or replace into large_piece (id, seq, bytes, sum, held)
  values (?1, ?2, ?3, ?4, exists (select 1 from lease where partition = ?5 and epoch = ?6))`);

/** A value that pieces hold. Its bytes are never changed. */
export interface Value {
  /** `partition/epoch/number`. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** A statement for each piece of `pieceBytes`, made when it is asked for. */
export function* piecesOf(
  { id, bytes }: Value,
  { partition, epoch }: Lease,
  pieceBytes: number,
): Generator<Statement> {
  for (let at = 0, seq = 0; at < bytes.length; at += pieceBytes, seq++) {
    const piece = bytes.subarray(at, at + pieceBytes);
    yield statement(PUT_PIECE, id, seq, piece, xxh32(piece), partition, epoch);
  }
}

/** Whether `part` is a view of bytes that `whole` is a view of, too. */
export function isWithin(whole: Uint8Array, part: Uint8Array): boolean {
  const from = part.byteOffset - whole.byteOffset;
  return part.buffer === whole.buffer && from >= 0 && from + part.length <= whole.length;
}
