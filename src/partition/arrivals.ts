import { Unreadable } from "../model/unreadable.ts";
import type { Rows, Table, Want } from "../model/rows.ts";
import type { Loaded } from "../ports.ts";
import { keyOf, type QueuedEvent } from "./queued_event.ts";
import type { Resident } from "./resident.ts";

export interface ArrivalsOptions {
  readonly resident: Resident;
  /** Calls back after other waiting work has run. */
  readonly soon: (call: () => void) => void;
  /** Takes events whose rows are loaded, the oldest first: they go before those in the mailbox. */
  readonly release: (queued: readonly QueuedEvent[]) => void;
  readonly onFailure: (cause: unknown) => void;
}

interface Arriving {
  readonly want: Want;
  readonly pages: Iterator<readonly Rows[Table][]>;
}

/**
 * Loads large groups into memory page by page, and holds the events that wait for them. Turns run
 * between two pages, without these events and without those that must not overtake them (`keyOf`).
 */
export class Arrivals {
  readonly #options: ArrivalsOptions;
  /** Groups that are being loaded: one page of each in turn. */
  readonly #arriving: Arriving[] = [];
  /** Groups that are complete. They stay pinned until the events that waited for them have run. */
  #arrived: Want[] = [];
  #waiting: QueuedEvent[] = [];
  readonly #keys = new Set<string>();
  /** How many events at the head of the mailbox waited here before. */
  #released = 0;
  #isDue = false;
  #isStopped = false;

  constructor(options: ArrivalsOptions) {
    this.#options = options;
  }

  /** Events that wait here. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Begins to load groups that `Resident.add` has pinned. */
  begin(loaded: readonly Loaded[]): void {
    for (const { want, pages } of loaded) {
      if (pages) this.#arriving.push({ want, pages: pages[Symbol.iterator]() });
    }
    this.#goOn();
  }

  /** Holds events of a turn that need rows which are not loaded yet. Returns those that can run. */
  setAside(late: readonly QueuedEvent[], queued: readonly QueuedEvent[]): readonly QueuedEvent[] {
    for (const { event } of late) this.#keys.add(keyOf(event));
    return this.hold(queued);
  }

  /** Holds events that must not overtake those that wait. Returns the others. */
  hold(queued: QueuedEvent[]): QueuedEvent[];
  hold(queued: readonly QueuedEvent[]): readonly QueuedEvent[];
  hold(queued: readonly QueuedEvent[]): readonly QueuedEvent[] {
    if (this.#keys.size === 0) return queued;
    const isHeld = ({ event }: QueuedEvent) => this.#keys.has(keyOf(event));
    for (const one of queued) if (isHeld(one)) this.#waiting.push(one);
    return queued.filter((one) => !isHeld(one));
  }

  /** Says that `count` events were taken from the head of the mailbox. */
  taken(count: number): void {
    this.#released = Math.max(0, this.#released - count);
  }

  /** A turn has ended: unpins groups whose events have run. */
  used(): void {
    if (this.#arrived.length === 0 || this.#waiting.length > 0 || this.#released > 0) return;
    for (const want of this.#arrived.splice(0)) this.#options.resident.unpin(want);
  }

  /** Drops all events and loads. */
  stop(): void {
    this.#isStopped = true;
    this.#arriving.length = 0;
    this.#waiting = [];
  }

  #goOn(): void {
    if (this.#isDue || this.#arriving.length === 0) return;
    this.#isDue = true;
    this.#options.soon(() => {
      this.#isDue = false;
      if (this.#isStopped) return;
      this.#page();
      this.#goOn();
    });
  }

  #page(): void {
    const next = this.#arriving.shift();
    if (!next) return;
    const { resident, onFailure } = this.#options;
    try {
      const { done, value } = next.pages.next();
      resident.arrive(next.want, done ? undefined : value);
      if (!done) return void this.#arriving.push(next);
      this.#arrived.push(next.want);
    } catch (cause) {
      if (!(cause instanceof Unreadable)) return onFailure(cause);
      resident.unpin(next.want);
      resident.block(cause);
    }
    this.#release();
  }

  /** Lets all held events run again: those that need another group are held again. */
  #release(): void {
    const queued = this.#waiting;
    this.#waiting = [];
    this.#keys.clear();
    this.#released += queued.length;
    if (queued.length > 0) this.#options.release(queued);
    else this.used();
  }
}
