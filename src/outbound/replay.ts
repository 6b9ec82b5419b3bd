import { concatBytes } from "../bytes.ts";
import type { Entry } from "../model/journal.ts";
import { encodeEntry, encodeReplay, encodeStart, type Start } from "../wire/journal_codec.ts";

/** Bytes written at once: enough to keep the stream busy, few enough to share the loop. */
const PIECE_BYTES = 64 * 1024;
/** A longer journal is encoded piece by piece, so that it is not in memory twice. */
const SHORT_ENTRIES_MAX = 64;

/**
 * The beginning of an attempt's request: `Start` and the journal, in pieces of at most 64 KiB or
 * one entry. Entries are encoded when their piece is asked for.
 */
export class Replay {
  /** Encoded pieces that are written next. */
  #pieces: Uint8Array[];
  /** Entries from `#encoded` on are not encoded yet. */
  #entries: readonly Entry[];
  #encoded = 0;

  constructor(start: Start, entries: readonly Entry[]) {
    const isShort = entries.length <= SHORT_ENTRIES_MAX;
    this.#pieces = isShort ? encodeReplay(start, entries) : [encodeStart(start, entries.length)];
    this.#entries = isShort ? [] : entries;
  }

  get isDone(): boolean {
    return this.#pieces.length === 0 && this.#encoded >= this.#entries.length;
  }

  /** The next piece. Must not be called when `isDone`. */
  next(): Uint8Array {
    const piece = this.#pieces.shift() ?? this.#encode();
    if (piece.byteLength <= PIECE_BYTES) return piece;
    this.#pieces.unshift(piece.subarray(PIECE_BYTES));
    return piece.subarray(0, PIECE_BYTES);
  }

  /** As many entries as fill a piece. */
  #encode(): Uint8Array {
    const parts: Uint8Array[] = [];
    let size = 0;
    while (this.#encoded < this.#entries.length && size < PIECE_BYTES) {
      const bytes = encodeEntry(this.#entries[this.#encoded++]!);
      parts.push(bytes);
      size += bytes.byteLength;
    }
    // Releases the journal's memory once all of it is encoded.
    if (this.#encoded >= this.#entries.length) [this.#entries, this.#encoded] = [[], 0];
    return parts.length === 1 ? parts[0]! : concatBytes(parts);
  }
}
