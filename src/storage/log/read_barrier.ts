/** Reads that began between two folds. */
interface Reads {
  running: number;
}

/**
 * Keeps a fold from starting while an older read is running. A read looks at the overlay when it
 * begins and at the tables later. A fold moves rows from the overlay to the tables, so a read that
 * began before the freeze would find rows of later commits there. A read that began after it knows
 * the frozen layer, whose rows win over those of the tables: the fold does not wait for it.
 */
export class ReadBarrier {
  readonly #opened: () => void;
  /** Reads that must end before the fold starts, and reads that began after `raise`. */
  #earlier: Reads = { running: 0 };
  #current: Reads = { running: 0 };

  /** `opened` is called when the last read ends for which the fold had to wait. */
  constructor(opened: () => void) {
    this.#opened = opened;
  }

  /** Whether every read that began before the last `raise` has ended. */
  get isOpen(): boolean {
    return this.#earlier.running === 0;
  }

  /** A fold was handed over: it waits for all reads that are running now. */
  raise(): void {
    this.#earlier = this.#current;
    this.#current = { running: 0 };
  }

  /** Runs `read` at once and counts it until it settles. Resolves and rejects as it does. */
  async read<T>(read: () => Promise<T>): Promise<T> {
    const reads = this.#current;
    reads.running++;
    try {
      return await read();
    } finally {
      reads.running--;
      if (reads === this.#earlier && reads.running === 0) this.#opened();
    }
  }
}
