/** A process, and the number of the last heartbeat that was seen of it. */
interface Heartbeat {
  readonly id: string;
  readonly beat: number;
}

export interface FailureDetectorOptions {
  readonly heartbeatMs: number;
  readonly leaseMs: number;
}

/** When one look at the database began and ended, by our own stopwatch. */
interface Sample {
  readonly began: number;
  readonly ended: number;
}

/**
 * How long others have said nothing, by our own clock and nobody else's. A time in which we did not
 * look ourselves counts for little: when a database that was away for everybody comes back, those
 * who come second are not dead.
 */
export class FailureDetector {
  readonly #options: FailureDetectorOptions;
  #known = new Map<string, Heartbeat & { readonly ms: number }>();
  #last: Sample | undefined;

  constructor(options: FailureDetectorOptions) {
    this.#options = options;
  }

  /** Takes note of a look. Answers who has said nothing for as long as a lease lasts. */
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
      // It may have beaten at any time during a look: only what follows is silence.
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
