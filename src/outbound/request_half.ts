import type { Entry } from "../model/journal.ts";
import type { Exchange } from "../dial.ts";
import { encodeEntry, type Start } from "../wire/journal_codec.ts";
import { Replay } from "./replay.ts";

/**
 * What we say in one attempt (docs/spec/service-protocol.md#start-of-an-attempt): `Start`, the
 * replay, then notifications as they are stored. Obeys the endpoint's pace. Once ended, nothing
 * more is written.
 */
export class RequestHalf {
  readonly #exchange: Exchange;
  readonly #unreadBytesMax: number;
  /** Undefined before `begin`, and once all of it is written. */
  #replay: Replay | undefined;
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
    this.#snapshot = this.#next = this.#written = entries.length;
    this.#replay = new Replay(start, entries);
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
    this.#replay = undefined;
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
    while (this.#replay && !this.#replay.isDone) {
      if (this.#blocked) return false;
      this.#write(this.#replay.next());
    }
    this.#replay = undefined;
    return true;
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
