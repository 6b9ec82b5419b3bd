import { assert } from "../assert.ts";
import { PriorityLanes } from "../priority_lanes.ts";

/** What is kept of an attempt that waits for a slot. */
export interface Waiting {
  readonly id: string;
  readonly attempt: number;
}

/** One that is served. */
export interface Served extends Waiting {
  /** Since when it waited, in milliseconds since the epoch. */
  readonly since: number;
}

/** Where an attempt waits. `lane`: of its priority (`priority_lanes.ts`). */
export interface Place {
  readonly lane: number;
  /** Queues of different names do not wait behind each other. */
  readonly queue: string;
}

/**
 * Chooses the next attempt for a free slot: the one of the highest priority, where waiting raises it
 * (`priority_lanes.ts`). Within a priority queues are served in rotation, so that a long queue does
 * not starve the others, and within a queue first come, first served.
 */
export class FairQueue {
  /** Queues that have an attempt, in the order of rotation. */
  readonly #lanes: PriorityLanes<WaitQueue>;
  /** The same queues, by lane and name. */
  readonly #queues = new Map<string, WaitQueue>();
  /**
   * The newest attempt of each waiting invocation. Queued attempts that are missing here are
   * skipped.
   */
  readonly #waiting = new Map<string, Queued>();

  /** `agingMs`: the time of waiting that is worth one level of priority. At least 1. */
  constructor(options: { readonly agingMs: number }) {
    this.#lanes = new PriorityLanes(options);
  }

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Adds an attempt at the end of its queue. A newer attempt of the same invocation replaces the
   * older one. `now`: milliseconds since the epoch, here and below.
   */
  add({ lane, queue: name }: Place, { id, attempt }: Waiting, now: number): void {
    const known = this.#waiting.get(id);
    if (known && known.attempt >= attempt) return;
    const key = `${lane} ${name}`;
    let queue = this.#queues.get(key);
    if (!queue) {
      queue = { key, attempts: [], head: 0, size: 0 };
      this.#queues.set(key, queue);
      this.#lanes.add(lane, queue, now);
    }
    const queued = { id, attempt, queue, since: now };
    queue.attempts.push(queued);
    queue.size++;
    this.#waiting.set(id, queued);
    if (known) this.#left(known.queue);
  }

  /** Removes an invocation's attempts up to this one. */
  drop(id: string, attempt: number): void {
    const known = this.#waiting.get(id);
    if (!known || known.attempt > attempt) return;
    this.#waiting.delete(id);
    this.#left(known.queue);
  }

  /** Removes and returns the next attempt. */
  next(now: number): Served | undefined {
    const served = this.#lanes.next(now);
    if (!served) return undefined;
    const { lane, item: queue } = served;
    const { id, attempt, since } = this.#first(queue);
    this.#waiting.delete(id);
    // Behind the other queues of its lane, unless it is empty.
    this.#lanes.add(lane, queue, now);
    this.#left(queue);
    return { id, attempt, since };
  }

  /** The attempt of this invocation that waits. Undefined: none does. */
  attemptOf(id: string): number | undefined {
    return this.#waiting.get(id)?.attempt;
  }

  clear(): void {
    this.#lanes.clear();
    this.#queues.clear();
    this.#waiting.clear();
  }

  /** Removes the first attempt that has not been dropped from a queue that has one. */
  #first(queue: WaitQueue): Queued {
    for (;;) {
      const next = queue.attempts[queue.head++];
      assert(next, "A queue in the rotation must have an attempt");
      if (queue.head >= SHIFT_EVERY) {
        queue.attempts.splice(0, queue.head);
        queue.head = 0;
      }
      if (this.#waiting.get(next.id) === next) return next;
    }
  }

  /** An attempt has left a queue. Queues without attempts are forgotten. */
  #left(queue: WaitQueue): void {
    if (--queue.size > 0) return;
    this.#lanes.delete(queue);
    this.#queues.delete(queue.key);
  }
}

/** An attempt in its queue. */
interface Queued extends Served {
  readonly queue: WaitQueue;
}

/** The waiting attempts of one queue. Those before `head` have been served. */
interface WaitQueue {
  readonly key: string;
  readonly attempts: Queued[];
  head: number;
  /** Attempts that have neither been served nor dropped. */
  size: number;
}

/** Served attempts are removed this many at a time: removing each one would move all the others. */
const SHIFT_EVERY = 1024;
