import type { Queued } from "../../engine/flow/slots.ts";
import { countersOfQueue, type ParsedQueue, parseQueueName } from "../../engine/flow/queue.ts";

/** An invocation that waits. */
export type Entry = Pick<Queued, "id" | "seq">;

/** Entries of a queue that are kept in memory; the others are in the store only. */
export const WINDOW = 256;
/** With fewer entries in memory than this part of a window, the next ones are read. */
const LOW = 0.25;
/** Entries that have left and still have a place in the array, at most. */
const HOLES_MAX = 64;

/**
 * The invocations that wait in one queue, in the order of their places. Only the first ones are in
 * memory. Some of them may not wait any more: who grants one finds out.
 */
export class WaitQueue {
  readonly name: string;
  readonly parsed: ParsedQueue;
  /** The counters in which a slot is reserved for its head. */
  readonly counters: readonly string[];
  readonly #window: number;
  #entries: Entry[] = [];
  #head = 0;
  /** Those after `#last` are in the store. */
  #hasMore = false;
  /** The last place that is or was in memory. */
  #last = -1;
  /**
   * While the next page is read: what has come since. Of those that came in order only so many that it
   * shows that there are more than a page.
   */
  #recent: Entry[] | undefined;
  /** No entry is in memory, so it waits nowhere until the next page is read. */
  isUnread = false;
  /** The counter at which it waits. */
  waitsAt: string | undefined;

  /** `window`: entries in memory, and of a page. At least 1. */
  constructor(name: string, window = WINDOW) {
    this.#window = window;
    this.name = name;
    this.parsed = parseQueueName(name);
    this.counters = countersOfQueue(this.parsed);
  }

  /** Whether its invocations have never run: each needs a token. */
  get isFirst(): boolean {
    return this.parsed.lane % 2 === 0;
  }

  /** Entries in memory. */
  get length(): number {
    return this.#entries.length - this.#head;
  }

  /** Whether nothing waits in it any more. */
  get isOver(): boolean {
    return this.length === 0 && !this.#hasMore;
  }

  /** Whether the next entries should be read now, by `beginRead` and `endRead`. */
  get isLow(): boolean {
    return this.#hasMore && !this.#recent && this.length <= this.#window * LOW;
  }

  /** Adds an entry that a turn has written, or written again. */
  add(entry: Entry): void {
    if (entry.seq <= this.#last) return this.#insert(entry);
    if (this.#recent) {
      const isNext = entry.seq > (this.#recent.at(-1)?.seq ?? -1);
      if (!isNext || this.#recent.length <= this.#window) insert(this.#recent, 0, entry);
      return;
    }
    if (this.#hasMore) return;
    if (this.length >= this.#window) this.#hasMore = true;
    else this.#push(entry);
  }

  /** Takes the first entry in memory. */
  shift(): Entry | undefined {
    const entry = this.#entries[this.#head];
    if (!entry) return undefined;
    this.#head++;
    if (this.#head >= HOLES_MAX) {
      this.#entries.splice(0, this.#head);
      this.#head = 0;
    }
    return entry;
  }

  /** Returns the place after which the next entries are to be read, at most as many as a window. */
  beginRead(): number {
    this.#recent = [];
    return this.#last;
  }

  /** Adds the entries that were read from the store, as it was at `beginRead` or later. */
  endRead(page: readonly Entry[]): void {
    const recent = this.#recent ?? [];
    this.#recent = undefined;
    for (const entry of page) this.#push(entry);
    this.#hasMore = page.length >= this.#window;
    // One that comes from another queue may have a place before the end of the page.
    for (const entry of recent) this.add(entry);
  }

  #push(entry: Entry): void {
    this.#entries.push(entry);
    this.#last = entry.seq;
  }

  /** Puts back an entry that had been taken. */
  #insert(entry: Entry): void {
    insert(this.#entries, this.#head, entry);
  }
}

/** Inserts an entry by its place, unless it is there already. `from`: where the entries begin. */
function insert(entries: Entry[], from: number, entry: Entry): void {
  let at = entries.length;
  while (at > from && entries[at - 1]!.seq >= entry.seq) at--;
  if (entries[at]?.seq !== entry.seq) entries.splice(at, 0, entry);
}
