import type { SqlRow } from "../ports.ts";
import { xxh32 } from "./checksum.ts";
import { Layer } from "./layer.ts";
import { replay } from "./log_codec.ts";

const encoder = new TextEncoder();

/** Where a row stands. */
interface Position {
  readonly place: number;
  /** How many rows of its commit follow. */
  readonly rest: number;
}

interface Content {
  readonly rows: string;
  readonly bytes: Uint8Array | null;
}

/** The checksum of a row of the log. It covers the position, so that rows cannot change places. */
export function checksumOf({ place, rest }: Position, { rows, bytes }: Content): number {
  const position = xxh32(encoder.encode(`${place} ${rest}`));
  const text = xxh32(encoder.encode(rows), position);
  return bytes ? xxh32(bytes, text) : text;
}

/** A row of the log in which `LogChecker` found nothing wrong. */
export interface CheckedRow extends Position, Content {}

/**
 * Checks the rows of one partition's log, in their order: that each is what was written, that none is
 * missing between them, and that commits are whole.
 */
export class LogChecker {
  #last: Position | undefined;

  /** The place of the last row that was checked. */
  get place(): number {
    return this.#last?.place ?? 0;
  }

  /** What is wrong with the next row; undefined: nothing. */
  problem(row: SqlRow): string | undefined {
    const before = this.#last;
    const { place, rest } = row as unknown as Position;
    this.#last = { place, rest };
    return this.#gap(before, { place, rest }) ?? contentProblem(row);
  }

  /** What is wrong with the end of the log, after its last row; undefined: nothing. */
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

function contentProblem(row: SqlRow): string | undefined {
  const { place, rest, rows, bytes, sum } = row;
  if (typeof rows !== "string" || !(bytes === null || bytes instanceof Uint8Array)) {
    return "its columns have the wrong types";
  }
  // Rows that an earlier version left have no checksum.
  if (sum === null) return isReadable({ rows, bytes }) ? undefined : "it cannot be decoded";
  const expected = checksumOf({ place: Number(place), rest: Number(rest) }, { rows, bytes });
  return sum === expected ? undefined : "its content does not match its checksum";
}

function isReadable(row: Content): boolean {
  try {
    replay(row, new Layer());
    return true;
  } catch {
    // Whatever a decoder trips over: the row is not what was written.
    return false;
  }
}
