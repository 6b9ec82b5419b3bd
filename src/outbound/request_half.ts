import { concatBytes } from "../bytes.ts";
import type { Entry } from "../model/journal.ts";
import type { Exchange } from "../dial.ts";
import { encodeEntry, encodeReplay, encodeStart, type Start } from "../wire/journal_codec.ts";

/** What is written at once: enough to keep the stream busy, little enough to share it. */
const PIECE_BYTES = 64 * 1024;
/** A longer journal is encoded piece by piece, so that it is never in memory twice. */
const SHORT_ENTRIES_MAX = 64;

/**
 * What we say in one attempt (docs/spec/service-protocol.md#start-of-an-attempt): `Start`, the
 * replay, then notifications as they are stored. Obeys the endpoint's pace. Once ended, nothing
 * more is written.
 */
export class RequestHalf {
  readonly #exchange: Exchange;
  readonly #unreadBytesMax: number;
  /** Encoded, and next to be written. */
  #pieces: Uint8Array[] = [];
  /** Entries of the replay from `#replayed` on are to be encoded. */
  #entries: readonly Entry[] = [];
  #replayed = 0;
  /** Encoded notifications and acknowledgements that wait until the replay is out and the endpoint reads. */
  #queue: { readonly index: number; readonly bytes: Uint8Array }[] = [];
  #unread = 0;
  /** Length of the replay. */
  #snapshot = 0;
  /** Journal indexes below this one are in the replay or were handed over already. */
  #next = 0;
  /** As `#next`, of what was written. */
  #written = 0;
  #blocked = false;
  #ending = false;
  #ended = false;

  /** Beyond `unreadBytesMax` bytes of notifications that are not read, no more are taken. */
  constructor(exchange: Exchange, unreadBytesMax: number) {
    this.#exchange = exchange;
    this.#unreadBytesMax = unreadBytesMax;
  }

  /** Whether notifications are still taken. */
  get open(): boolean {
    return !this.#ending;
  }

  /** Whether the endpoint has no room for more. */
  get blocked(): boolean {
    return this.#blocked;
  }

  /**
   * Journal entries below this index have been seen by an SDK that suspends now
   * (docs/spec/service-protocol.md#suspension): it reads its input to the end before. One that
   * suspends without having been told the end may have looked at no more than the replay.
   */
  get delivered(): number {
    return this.#ended ? this.#written : this.#snapshot;
  }

  /** Writes `Start`, and the replay as far as there is room. */
  begin(start: Start, entries: readonly Entry[]): void {
    const { length } = entries;
    this.#snapshot = this.#next = this.#written = length;
    if (length <= SHORT_ENTRIES_MAX) {
      this.#pieces = encodeReplay(start, entries);
    } else {
      this.#pieces = [encodeStart(start, length)];
      this.#entries = entries;
    }
    this.#pump();
  }

  /**
   * A notification was stored at `index`. They come in order; a repeated one is ignored. `ack`: what
   * is said in its place. Answers whether it was taken.
   */
  notify(index: number, entry: Entry, ack?: Uint8Array): boolean {
    if (this.#ending || index < this.#next || entry.kind !== "notification") return false;
    this.#next = index + 1;
    this.#push(index, ack ?? encodeEntry(entry));
    return true;
  }

  /** Says that commands are stored, after all that was said before. */
  acknowledge(acks: readonly Uint8Array[]): void {
    for (const ack of acks) if (!this.#ending) this.#push(this.#next - 1, ack);
  }

  #push(index: number, bytes: Uint8Array): void {
    this.#queue.push({ index, bytes });
    this.#unread += bytes.byteLength;
    this.#pump();
    // A reader this slow is told to suspend; it will find the rest in its journal.
    if (this.#unread > this.#unreadBytesMax) this.end();
  }

  /** There is room again. */
  drain(): void {
    this.#blocked = false;
    this.#pump();
  }

  /** No more notifications: ends the body once what was taken is written. */
  end(): void {
    this.#ending = true;
    this.#pump();
  }

  /** Ends the body now; nobody waits for the rest. */
  stop(): void {
    this.#pieces = [];
    this.#entries = [];
    this.#replayed = 0;
    this.#queue = [];
    this.end();
  }

  #pump(): void {
    if (this.#ended || !this.#pumpReplay() || !this.#pumpQueue() || !this.#ending) return;
    this.#ended = true;
    this.#exchange.end();
  }

  /** Answers whether the replay is written. */
  #pumpReplay(): boolean {
    for (;;) {
      if (this.#pieces.length === 0) {
        if (this.#replayed >= this.#entries.length) return true;
        this.#pieces = [this.#encodePiece()];
      }
      while (this.#pieces.length > 0) {
        if (this.#blocked) return false;
        this.#writePiece();
      }
    }
  }

  /** As many entries as fill a piece. */
  #encodePiece(): Uint8Array {
    const parts: Uint8Array[] = [];
    let size = 0;
    while (this.#replayed < this.#entries.length && size < PIECE_BYTES) {
      const entry = this.#entries[this.#replayed++];
      if (!entry) continue;
      const bytes = encodeEntry(entry);
      parts.push(bytes);
      size += bytes.byteLength;
    }
    if (this.#replayed >= this.#entries.length) {
      this.#entries = [];
      this.#replayed = 0;
    }
    return parts.length === 1 && parts[0] ? parts[0] : concatBytes(parts);
  }

  #writePiece(): void {
    const [piece] = this.#pieces;
    if (!piece) return;
    if (piece.byteLength <= PIECE_BYTES) {
      this.#pieces.shift();
      this.#write(piece);
    } else {
      this.#pieces[0] = piece.subarray(PIECE_BYTES);
      this.#write(piece.subarray(0, PIECE_BYTES));
    }
  }

  /** Answers whether all notifications are written. */
  #pumpQueue(): boolean {
    let sent = 0;
    for (const { index, bytes } of this.#queue) {
      if (this.#blocked) break;
      this.#write(bytes);
      this.#written = index + 1;
      this.#unread -= bytes.byteLength;
      sent++;
    }
    if (sent > 0) this.#queue.splice(0, sent);
    return this.#queue.length === 0;
  }

  #write(bytes: Uint8Array): void {
    if (!this.#exchange.write(bytes)) this.#blocked = true;
  }
}
