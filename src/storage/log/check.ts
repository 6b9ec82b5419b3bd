import { withUtf8 } from "../../utf8.ts";
import type { SqlRow } from "../../ports.ts";
import { xxh32 } from "../codec/checksum.ts";
import { Layer } from "../overlay/layer.ts";
import { replay } from "./records.ts";
import { fromUtf8 } from "../codec/safe_text.ts";

/** The position of a row in the log. */
interface Position {
  readonly place: number;
  /** How many rows of its commit follow. */
  readonly rest: number;
}

interface Content {
  readonly rows: string;
  readonly bytes: Uint8Array | null;
}

/** The checksum of a row of the log. It covers the position, so that a swap of rows is detected. */
export function checksumOf(position: Position, { rows, bytes }: Content): number {
  const seed = seedOf(position);
  return withUtf8(rows, (text) => sumOf(seed, text, bytes));
}

function sumOf(seed: number, text: Uint8Array, bytes: Uint8Array | null): number {
  const sum = xxh32(text, seed);
  return bytes ? xxh32(bytes, sum) : sum;
}

function seedOf({ place, rest }: Position): number {
  return withUtf8(`${place} ${rest}`, (text) => xxh32(text));
}

/** A row of the log that passed its checks. */
export interface CheckedRow extends Position, Content {}

/**
 * Checks the rows of one partition's log, in their order: each matches its checksum, none is missing
 * between them, and commits are whole.
 */
export class LogChecker {
  #last: Position | undefined;

  /** The place of the last row that was checked. */
  get place(): number {
    return this.#last?.place ?? 0;
  }

  /** Checks the next row, whose text was read as bytes. Returns the row, or its problem as text. */
  check(row: SqlRow): CheckedRow | string {
    const before = this.#last;
    const { place, rest } = row as unknown as Position;
    const position = this.#last = { place, rest };
    return this.#gap(before, position) ?? checkContent(position, row);
  }

  /** The problem at the end of the log, after its last row. Undefined: none. */
  endProblem(): string | undefined {
    const missing = this.#last?.rest ?? 0;
    return missing === 0 ? undefined : `${missing} more rows of its last commit are missing`;
  }

  #gap(before: Position | undefined, { place, rest }: Position): string | undefined {
    if (!before) return undefined;
    const missing = place - before.place - 1;
    if (missing > 0) return `${missing} rows before it are missing`;
    const isNext = before.rest === 0 || rest === before.rest - 1;
    return isNext ? undefined : "it does not continue the commit that the row before it began";
  }
}

function checkContent(position: Position, { rows: text, bytes, sum }: SqlRow): CheckedRow | string {
  if (!(text instanceof Uint8Array) || !(bytes === null || bytes instanceof Uint8Array)) {
    return "its columns have the wrong types";
  }
  if (sum !== null && sum !== sumOf(seedOf(position), text, bytes)) {
    return "its content does not match its checksum";
  }
  try {
    const row = { ...position, rows: fromUtf8(text), bytes };
    // Rows of an earlier version have no checksum: they are checked by decoding them.
    if (sum === null) replay(row, new Layer());
    return row;
  } catch {
    // Any error of a decoder means that the row is damaged.
    return "it cannot be decoded";
  }
}
