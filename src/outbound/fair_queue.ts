/** What is kept of an attempt that waits for a slot. */
export interface Waiting {
  readonly id: string;
  readonly attempt: number;
}

/**
 * Chooses the next attempt for a free slot: first come, first served within a queue, and queues are
 * served in rotation, so that a long queue does not starve the others.
 */
export class FairQueue {
  /** In the order of rotation. Empty queues are removed. */
  readonly #queues = new Map<string, WaitQueue>();
  /**
   * The newest attempt of each waiting invocation. Queued attempts that are missing here are
   * skipped.
   */
  readonly #waiting = new Map<string, Waiting>();

  get size(): number {
    return this.#waiting.size;
  }

  /** A newer attempt of the same invocation replaces the older one, at the end of the queue. */
  add(queueName: string, waiting: Waiting): void {
    const known = this.#waiting.get(waiting.id);
    if (known && known.attempt >= waiting.attempt) return;
    this.#waiting.set(waiting.id, waiting);
    const waitQueue = this.#queues.get(queueName);
    if (waitQueue) waitQueue.queue.push(waiting);
    else this.#queues.set(queueName, { queue: [waiting], head: 0 });
  }

  /** Removes an invocation's attempts up to this one. */
  drop(id: string, attempt: number): void {
    const known = this.#waiting.get(id);
    if (known && known.attempt <= attempt) this.#waiting.delete(id);
  }

  /** Removes and returns the next attempt. */
  next(): Waiting | undefined {
    for (const [queueName, waitQueue] of this.#queues) {
      const waiting = this.#first(waitQueue);
      this.#queues.delete(queueName);
      if (waitQueue.head < waitQueue.queue.length) this.#queues.set(queueName, waitQueue);
      if (waiting) return waiting;
    }
    return undefined;
  }

  /** The attempt of this invocation that waits. Undefined: none does. */
  attemptOf(id: string): number | undefined {
    return this.#waiting.get(id)?.attempt;
  }

  clear(): void {
    this.#queues.clear();
    this.#waiting.clear();
  }

  #first(waitQueue: WaitQueue): Waiting | undefined {
    while (waitQueue.head < waitQueue.queue.length) {
      const next = waitQueue.queue[waitQueue.head++];
      if (waitQueue.head >= SHIFT_EVERY) {
        waitQueue.queue.splice(0, waitQueue.head);
        waitQueue.head = 0;
      }
      if (!next || this.#waiting.get(next.id) !== next) continue;
      this.#waiting.delete(next.id);
      return next;
    }
    return undefined;
  }
}

/** The waiting attempts of one queue. Those before `head` have been served. */
interface WaitQueue {
  readonly queue: Waiting[];
  head: number;
}

/** Served attempts are removed this many at a time: removing each one would move all the others. */
const SHIFT_EVERY = 1024;
