import type { Entry } from "../model/journal.ts";
import type { Exchange } from "../dial.ts";
import { encodeEntry, type Start } from "../wire/journal_codec.ts";
import { Replay } from "./replay.ts";

/**
 * The request of one attempt (docs/spec/service-protocol.md#start-of-an-attempt): `Start`, the
 * replay, then notifications as they are stored. Writes no faster than the endpoint reads. Once
 * ended, nothing more is written.
 */
export class RequestHalf {
  readonly #exchange: Exchange;
  readonly #unreadBytesMax: number;
  /** Undefined before `begin`, and once all of the replay is written. */
  #replay: Replay | undefined;
  /**
   * Encoded notifications and acknowledgements that wait until the replay is written and the
   * endpoint reads.
   */
  #queue: { readonly index: number; readonly bytes: Uint8Array }[] = [];
  #unread = 0;
  /** Number of entries in the replay. */
  #snapshot = 0;
  /** Journal indexes below this one are in the replay or were taken by `notify` already. */
  #next = 0;
  /** As `#next`, but of what was written to the exchange. */
  #written = 0;
  #isHeld = false;
  /** The last byte of the replay, while it is held back. */
  #held: Uint8Array | undefined;
  #blocked = false;
  #ending = false;
  #ended = false;

  /** Beyond `unreadBytesMax` bytes of unread notifications the request ends. */
  constructor(exchange: Exchange, unreadBytesMax: number) {
    this.#exchange = exchange;
    this.#unreadBytesMax = unreadBytesMax;
  }

  /** Whether notifications are still taken. */
  get open(): boolean {
    return !this.#ending;
  }

  /** Whether writing waits for the endpoint to read. */
  get blocked(): boolean {
    return this.#blocked;
  }

  /**
   * The SDK has seen the journal entries below this index when it suspends now
   * (docs/spec/service-protocol.md#suspension): it reads its input to the end first. An SDK that
   * suspends while its input is open may have seen no more than the replay.
   */
  get delivered(): number {
    return this.#ended ? this.#written : this.#snapshot;
  }

  /**
   * Writes `Start`, and the replay as far as there is room. `isHeld`: the last byte waits for `proceed`,
   * so that the endpoint cannot begin, which has to read the last entry first.
   */
  begin(
    start: Start,
    entries: readonly Entry[],
    { isHeld }: { readonly isHeld: boolean },
  ): void {
    this.#isHeld = isHeld;
    this.#snapshot = this.#next = this.#written = entries.length;
    this.#replay = new Replay(start, entries);
    this.#pump();
  }

  /** Writes the last byte of the replay now, or once there is room. */
  proceed(): void {
    this.#isHeld = false;
    this.#pump();
  }

  /**
   * Takes a notification that was stored at `index`. They arrive in order; a repeated one is
   * ignored. `ack`: written instead of it. Returns whether it was taken.
   */
  notify(index: number, entry: Entry, ack?: Uint8Array): boolean {
    if (this.#ending || index < this.#next || entry.kind !== "notification") return false;
    this.#next = index + 1;
    this.#push(index, ack ?? encodeEntry(entry));
    return true;
  }

  /** Writes acknowledgements of stored commands, after everything taken before. */
  acknowledge(acks: readonly Uint8Array[]): void {
    for (const ack of acks) if (!this.#ending) this.#push(this.#next - 1, ack);
  }

  #push(index: number, bytes: Uint8Array): void {
    this.#queue.push({ index, bytes });
    this.#unread += bytes.byteLength;
    this.#pump();
    // The endpoint reads too slowly: it suspends, and the next attempt gets the rest in its replay.
    if (this.#unread > this.#unreadBytesMax) this.end();
  }

  /** The endpoint has room again: continues writing. */
  drain(): void {
    this.#blocked = false;
    this.#pump();
  }

  /** No more notifications: ends the body once what was taken is written. */
  end(): void {
    this.#ending = true;
    this.#pump();
  }

  /** Ends the body now and drops what is not written. */
  stop(): void {
    this.#replay = this.#held = undefined;
    this.#queue = [];
    this.end();
  }

  #pump(): void {
    if (this.#ended || !this.#pumpReplay() || !this.#pumpQueue() || !this.#ending) return;
    this.#ended = true;
    this.#exchange.end();
  }

  /** Writes the replay. Returns whether all of it is written. */
  #pumpReplay(): boolean {
    while (this.#replay && !this.#replay.isDone) {
      if (this.#blocked) return false;
      const piece = this.#replay.next();
      if (!this.#isHeld || !this.#replay.isDone) this.#write(piece);
      else {
        this.#write(piece.subarray(0, -1));
        this.#held = piece.subarray(-1);
      }
    }
    this.#replay = undefined;
    if (!this.#held) return true;
    if (this.#isHeld || this.#blocked) return false;
    this.#write(this.#held);
    this.#held = undefined;
    return true;
  }

  /** Writes the queue. Returns whether all of it is written. */
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
