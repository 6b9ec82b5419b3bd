/** A member, and the number of its last heartbeat that was seen. */
interface Heartbeat {
  readonly id: string;
  readonly beat: number;
}

export interface FailureDetectorOptions {
  readonly heartbeatMs: number;
  readonly leaseMs: number;
}

/** When one read of the membership began and ended, in milliseconds of this process's stopwatch. */
interface Sample {
  readonly began: number;
  readonly ended: number;
}

/**
 * Decides that a member is dead: its heartbeat number has not changed for a lease, by the clock of this
 * process. Time in which this process read nothing counts for two heartbeats at most. So members that
 * return a little later than this one after an outage of the database are not evicted.
 */
export class FailureDetector {
  readonly #options: FailureDetectorOptions;
  #known = new Map<string, Heartbeat & { readonly ms: number }>();
  #last: Sample | undefined;

  constructor(options: FailureDetectorOptions) {
    this.#options = options;
  }

  /** Records one read of the membership. Returns the members without a heartbeat for a whole lease. */
  observe<T extends Heartbeat>(others: readonly T[], sample: Sample): T[] {
    const { heartbeatMs, leaseMs } = this.#options;
    const sinceMs = this.#last ? sample.began - this.#last.began : 0;
    const countedMs = Math.min(sinceMs, 2 * heartbeatMs);
    this.#last = sample;
    const known = new Map<string, Heartbeat & { readonly ms: number }>();
    const dead: T[] = [];
    for (const other of others) {
      const { id, beat } = other;
      const before = this.#known.get(id);
      // The heartbeat may have come at any time of the read: count from the end of the read.
      const ms = before?.beat === beat ? before.ms + countedMs : sample.began - sample.ended;
      known.set(id, { id, beat, ms });
      if (ms >= leaseMs) dead.push(other);
    }
    this.#known = known;
    return dead;
  }

  forget(): void {
    this.#known.clear();
    this.#last = undefined;
  }
}
