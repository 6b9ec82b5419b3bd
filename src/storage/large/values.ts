import { sql } from "kysely";
import type { Lease, Statement } from "../../ports.ts";
import { xxh32 } from "../codec/checksum.ts";
import type { LargeRef } from "../codec/large_ref.ts";
import { compile, statement } from "../codec/sql_text.ts";
import { BYTE_COLUMNS } from "../schema/large_tables.ts";

export interface LargeLimits {
  /** What is written as one row, and so as one transaction: commits go in between. */
  readonly pieceBytes: number;
  /** Smaller parts of a large value are stored in their rows. */
  readonly refBytesMin: number;
}

/** Fenced by itself, and may be repeated: an id is used once. */
const PUT_PIECE = compile(sql`insert or replace into large_piece (id, seq, bytes, sum, held)
  values (?1, ?2, ?3, ?4, exists (select 1 from lease where partition = ?5 and epoch = ?6))`);

/** References of all tables, as a list of ids. */
const REFERRED = BYTE_COLUMNS.map(([table]) =>
  `select large ->> 0 from ${table} where large is not null`
).join(" union all ");
const IS_REFERRED = BYTE_COLUMNS.map(([table]) =>
  `exists (select 1 from ${table} where large is not null and large ->> 0 = u.id)`
).join(" or ");

/** ?1 and ?2: ids from and before which belong to the partition. */
const texts = {
  give: compile(sql`insert or ignore into large_unused select value from json_each(?1)`),
  /** ?3: ids of which later commits may hold a reference. */
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
 * Large values of one lease (docs/spec/storage-layout.md#large-values). A value is written in pieces before the commit that holds it, so that a
 * commit and a fold of 30 MB take no longer than those of a reference. Rows find their value by the
 * buffer of their bytes: the engine passes on views of what it was given.
 *
 * Pieces are deleted at the beginning of a fold, when no row of the tables refers to them. No commit
 * that is not folded may do so either, so commits refer to a value only until the first fold that begins
 * after it was given up, and that fold keeps it.
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
   * Makes a value durable. Nobody may change the bytes. Answers what gives the value up once the commit
   * that may hold it is durable: without that call its pieces stay until the next claim. Rejects as
   * `write` does.
   */
  async stage(bytes: Uint8Array): Promise<() => void> {
    const { partition, epoch } = this.#lease;
    const { pieceBytes } = this.#limits;
    const id = `${partition}/${epoch}/${++this.#number}`;
    for (let at = 0, seq = 0; at < bytes.length; at += pieceBytes, seq++) {
      const piece = bytes.slice(at, at + pieceBytes);
      await this.#write(statement(PUT_PIECE, id, seq, piece, xxh32(piece), partition, epoch));
    }
    const value: Value = { id, bytes, isRecorded: false, isReleased: false };
    this.#values.push(value);
    return () => void (value.isReleased = true);
  }

  /** The value that these bytes are a part of, for a commit. Undefined: they are stored in their row. */
  record(part: Uint8Array): LargeRef | undefined {
    if (part.length < this.#limits.refBytesMin) return undefined;
    const value = this.#values.find(({ bytes }) => isWithin(bytes, part));
    if (!value) return undefined;
    value.isRecorded = true;
    const from = part.byteOffset - value.bytes.byteOffset;
    return { id: value.id, from, size: part.length };
  }

  /**
   * Deletes the values to which no row refers any more. For the first batch of a fold of all commits so
   * far: reads that may still follow an older reference have ended then.
   */
  sweep(): Statement[] {
    const closed = this.#values.filter(({ isReleased }) => isReleased);
    const unrecorded = closed.filter(({ isRecorded }) => !isRecorded).map(({ id }) => id);
    const kept = this.#values.filter(({ isReleased, isRecorded }) => isRecorded || !isReleased);
    const ids = JSON.stringify(kept.map(({ id }) => id));
    // The fold has all commits that refer to what was released.
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

/** Asks whether there are values of a partition to which no row of the tables refers. */
export function findOrphans(partition: number): Statement {
  return statement(texts.orphans, ...idsOf(partition));
}

/** Deletes them. Only where the log of the partition is empty, as its rows refer to values, too. */
export function dropOrphans(partition: number): Statement[] {
  const [from, to] = idsOf(partition);
  return [
    statement(texts.dropOrphans, from, to),
    statement(texts.forgetUnused, from, to, "[]"),
  ];
}

/** The first possible id of a partition, and the first one after them all: "0" follows "/". */
function idsOf(partition: number): [string, string] {
  return [`${partition}/`, `${partition}0`];
}
