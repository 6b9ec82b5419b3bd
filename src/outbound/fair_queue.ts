/** An attempt that waits for a slot: all that is kept of it. */
export interface Waiting {
  readonly id: string;
  readonly attempt: number;
}

/**
 * Who is next for a free slot: first come, first served within a line, and lines take
 * turns, so that one with a long queue does not starve the others.
 */
export class FairQueue {
  /** In the order of their turns. A line without waiters is not here. */
  readonly #lines = new Map<string, Lane>();
  /** The newest attempt of each waiting invocation. What is not here any more is skipped. */
  readonly #waiting = new Map<string, Waiting>();

  get size(): number {
    return this.#waiting.size;
  }

  /** A newer attempt of the same invocation takes the older one's place at the end. */
  add(line: string, waiting: Waiting): void {
    const known = this.#waiting.get(waiting.id);
    if (known && known.attempt >= waiting.attempt) return;
    this.#waiting.set(waiting.id, waiting);
    const lane = this.#lines.get(line);
    if (lane) lane.queue.push(waiting);
    else this.#lines.set(line, { queue: [waiting], head: 0 });
  }

  /** Forgets an invocation's attempts up to this one. */
  drop(id: string, attempt: number): void {
    const known = this.#waiting.get(id);
    if (known && known.attempt <= attempt) this.#waiting.delete(id);
  }

  /** Takes out whose turn it is. */
  next(): Waiting | undefined {
    for (const [line, lane] of this.#lines) {
      const waiting = this.#first(lane);
      this.#lines.delete(line);
      if (lane.head < lane.queue.length) this.#lines.set(line, lane);
      if (waiting) return waiting;
    }
    return undefined;
  }

  /** The attempt of this invocation that waits, if one does. */
  attemptOf(id: string): number | undefined {
    return this.#waiting.get(id)?.attempt;
  }

  clear(): void {
    this.#lines.clear();
    this.#waiting.clear();
  }

  #first(lane: Lane): Waiting | undefined {
    while (lane.head < lane.queue.length) {
      const next = lane.queue[lane.head++];
      if (lane.head >= SHIFT_EVERY) {
        lane.queue.splice(0, lane.head);
        lane.head = 0;
      }
      if (!next || this.#waiting.get(next.id) !== next) continue;
      this.#waiting.delete(next.id);
      return next;
    }
    return undefined;
  }
}

/** The waiters of one service. Those before `head` have been served. */
interface Lane {
  readonly queue: Waiting[];
  head: number;
}

/** Served waiters are removed so many at a time: removing each would move all the others. */
const SHIFT_EVERY = 1024;
