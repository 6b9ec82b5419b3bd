import type { Arrivals } from "./arrivals.ts";
import { framesOf, type QueuedEvent } from "./queued_event.ts";

/** The events that wait for a turn, the oldest first. */
export class EventQueue {
  readonly #arrivals: Arrivals;
  #queued: QueuedEvent[] = [];

  constructor(arrivals: Arrivals) {
    this.#arrivals = arrivals;
  }

  get length(): number {
    return this.#queued.length;
  }

  push(event: QueuedEvent): void {
    this.#queued.push(event);
  }

  /** Puts events that waited elsewhere before all others. */
  unshift(events: readonly QueuedEvent[]): void {
    this.#queued = [...events, ...this.#queued];
  }

  /**
   * Removes and returns the oldest events, up to the one with which the turn has `framesMax` frames.
   * Events that must not overtake others, which wait for rows, go to `Arrivals` instead.
   */
  take(framesMax: number): readonly QueuedEvent[] {
    const all = this.#arrivals.hold(this.#queued);
    let room = framesMax;
    let end = 0;
    for (; end < all.length && room > 0; end++) room -= framesOf(all[end]);
    this.#queued = end === all.length ? [] : all.slice(end);
    this.#arrivals.taken(end);
    return end === all.length ? all : all.slice(0, end);
  }

  clear(): void {
    this.#queued = [];
  }
}
