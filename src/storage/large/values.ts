import { sql } from "kysely";
import type { Lease, Statement } from "../../ports.ts";
import { xxh32 } from "../codec/checksum.ts";
import type { LargeRef } from "../codec/large_ref.ts";
import { compile, statement } from "../codec/sql_text.ts";
import { BYTE_COLUMNS } from "../schema/large_tables.ts";

export interface LargeLimits {
  /** Bytes of a piece. It is one row and one transaction: commits can run between two pieces. */
  readonly pieceBytes: number;
  /** Bytes from which on a part of a large value is stored as a reference. Smaller ones are copied. */
  readonly refBytesMin: number;
}

/** Contains its fence, and is idempotent: an id is used for one value only. */
const PUT_PIECE = compile(sql`insert or replace into large_piece (id, seq, bytes, sum, held)
  values (?1, ?2, ?3, ?4, exists (select 1 from lease where partition = ?5 and epoch = ?6))`);

/** References of all tables, as a list of ids. */
const REFERRED = BYTE_COLUMNS.map(([table]) =>
  `select large ->> 0 from ${table} where large is not null`
).join(" union all ");
const IS_REFERRED = BYTE_COLUMNS.map(([table]) =>
  `exists (select 1 from ${table} where large is not null and large ->> 0 = u.id)`
).join(" or ");

/** ?1 and ?2: the range of ids of the partition, without the upper one. */
const texts = {
  give: compile(sql`insert or ignore into large_unused select value from json_each(?1)`),
  /** ?3: ids to which later commits may refer. */
  dropUnused: compile(sql`delete from large_piece where id in (
    select u.id from large_unused as u where u.id >= ?1 and u.id < ?2
    and u.id not in (select value from json_each(?3)) and not (${sql.raw(IS_REFERRED)}))`),
  forgetUnused: compile(sql`delete from large_unused
    where id >= ?1 and id < ?2 and id not in (select value from json_each(?3))`),
  orphans: compile(sql`select 1 from large_piece
    where id >= ?1 and id < ?2 and id not in (${sql.raw(REFERRED)}) limit 1`),
  dropOrphans: compile(sql`delete from large_piece
    where id >= ?1 and id < ?2 and id not in (${sql.raw(REFERRED)})`),
};

interface Value {
  readonly id: string;
  readonly bytes: Uint8Array;
  /** Whether a commit refers to it. */
  isRecorded: boolean;
  isReleased: boolean;
}

/**
 * Large values of one lease (docs/spec/storage-layout.md#large-values). A value is written in pieces
 * before the commit that refers to it, so that a commit and a fold of 30 MB take no longer than those
 * of a reference. The bytes of a row are matched to their value by their buffer, because the engine
 * passes on views of the bytes that it received.
 *
 * Pieces are deleted at the beginning of a fold, when no row of the tables refers to them. No unfolded
 * commit may refer to them either. So commits refer to a value only until the first fold that begins
 * after its release, and that fold still keeps it.
 */
export class LargeValues {
  readonly #lease: Lease;
  readonly #limits: LargeLimits;
  readonly #write: (piece: Statement) => Promise<void>;
  #values: Value[] = [];
  #number = 0;

  /** `write` makes one piece durable, exactly as it is or not at all. */
  constructor(lease: Lease, limits: LargeLimits, write: (piece: Statement) => Promise<void>) {
    this.#lease = lease;
    this.#limits = limits;
    this.#write = write;
  }

  /**
   * Makes a value durable. The caller must not change the bytes. Resolves with a function that releases
   * the value, to be called when the commit that may refer to it is durable: without that call its
   * pieces stay until the next claim. Rejects as `write` does.
   */
  async stage(bytes: Uint8Array): Promise<() => void> {
    const { partition, epoch } = this.#lease;
    const { pieceBytes } = this.#limits;
    const id = `${partition}/${epoch}/${++this.#number}`;
    for (let at = 0, seq = 0; at < bytes.length; at += pieceBytes, seq++) {
      // Not `slice`: a platform's own array may share its memory, and all of that goes to a thread.
      const piece = new Uint8Array(bytes.subarray(at, at + pieceBytes));
      await this.#write(statement(PUT_PIECE, id, seq, piece, xxh32(piece), partition, epoch));
    }
    const value: Value = { id, bytes, isRecorded: false, isReleased: false };
    this.#values.push(value);
    return () => void (value.isReleased = true);
  }

  /** A reference to the value that contains these bytes. Undefined: they are stored in their row. */
  record(part: Uint8Array): LargeRef | undefined {
    if (part.length < this.#limits.refBytesMin) return undefined;
    const value = this.#values.find(({ bytes }) => isWithin(bytes, part));
    if (!value) return undefined;
    value.isRecorded = true;
    const from = part.byteOffset - value.bytes.byteOffset;
    return { id: value.id, from, size: part.length };
  }

  /**
   * Statements that delete the values without references. They belong into the first batch of a fold of
   * all commits so far: reads that may follow an older reference have ended by then.
   */
  sweep(): Statement[] {
    const closed = this.#values.filter(({ isReleased }) => isReleased);
    const unrecorded = closed.filter(({ isRecorded }) => !isRecorded).map(({ id }) => id);
    const kept = this.#values.filter(({ isReleased, isRecorded }) => isRecorded || !isReleased);
    const ids = JSON.stringify(kept.map(({ id }) => id));
    // This fold contains all commits that refer to the released values.
    this.#values = this.#values.filter(({ isReleased }) => !isReleased);
    const [from, to] = idsOf(this.#lease.partition);
    return [
      ...unrecorded.length > 0 ? [statement(texts.give, JSON.stringify(unrecorded))] : [],
      statement(texts.dropUnused, from, to, ids),
      statement(texts.forgetUnused, from, to, ids),
    ];
  }
}

function isWithin(whole: Uint8Array, part: Uint8Array): boolean {
  const from = part.byteOffset - whole.byteOffset;
  return part.buffer === whole.buffer && from >= 0 && from + part.length <= whole.length;
}

/** Selects one row if there are values of a partition to which no row of the tables refers. */
export function findOrphans(partition: number): Statement {
  return statement(texts.orphans, ...idsOf(partition));
}

/** Deletes these values. The log of the partition must be empty, since its rows refer to values, too. */
export function dropOrphans(partition: number): Statement[] {
  const [from, to] = idsOf(partition);
  return [
    statement(texts.dropOrphans, from, to),
    statement(texts.forgetUnused, from, to, "[]"),
  ];
}

/** The range of ids of a partition, without the upper one: "0" is the character after "/". */
function idsOf(partition: number): [string, string] {
  return [`${partition}/`, `${partition}0`];
}
