/** A process, and the number of the last heartbeat that was seen of it. */
interface Beating {
  readonly id: string;
  readonly beat: number;
}

export interface SilencesOptions {
  readonly heartbeatMs: number;
  readonly leaseMs: number;
}

/** When one look at the database began and ended, by our own stopwatch. */
interface Look {
  readonly began: number;
  readonly ended: number;
}

/**
 * How long others have said nothing, by our own clock and nobody else's. A time in which we did not
 * look ourselves counts for little: when a database that was away for everybody comes back, those
 * who come second are not dead.
 */
export class Silences {
  readonly #options: SilencesOptions;
  #known = new Map<string, Beating & { readonly ms: number }>();
  #last: Look | undefined;

  constructor(options: SilencesOptions) {
    this.#options = options;
  }

  /** Takes note of a look. Answers who has said nothing for as long as a lease lasts. */
  heard<T extends Beating>(others: readonly T[], look: Look): T[] {
    const { heartbeatMs, leaseMs } = this.#options;
    const sinceMs = this.#last ? look.began - this.#last.began : 0;
    const countedMs = Math.min(sinceMs, 2 * heartbeatMs);
    this.#last = look;
    const known = new Map<string, Beating & { readonly ms: number }>();
    const dead: T[] = [];
    for (const other of others) {
      const { id, beat } = other;
      const before = this.#known.get(id);
      // It may have beaten at any time during a look: only what follows is silence.
      const ms = before?.beat === beat ? before.ms + countedMs : look.began - look.ended;
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
