import type { Clock, Stopwatch } from "../ports.ts";

/** The fraction of a lease in which its holder does not rely on it: clocks run at different pace. */
const MARGIN = 1 / 6;

/** A point in time, in milliseconds by both clocks. */
export interface Moment {
  readonly at: number;
  readonly wall: number;
}

export interface LeaseOptions {
  readonly stopwatch: Stopwatch;
  readonly clock: Pick<Clock, "now">;
  /** How long the others think a process alive that sends no heartbeat, in milliseconds. */
  readonly leaseMs: number;
  /** The lease ran out: the others may own the partitions of this process by now. */
  readonly ended: () => void;
}

/**
 * How long one process may rely on its partitions: for a little less than a lease, from when its
 * last successful heartbeat *began*. The others count a whole lease from when they saw it, each by
 * its own clock, so no two clocks are compared.
 */
export class Lease {
  readonly #options: LeaseOptions;
  #renewed: Moment | undefined;
  #cancelEnd: (() => void) | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** The present. A heartbeat asks for it before it begins. */
  now(): Moment {
    const { stopwatch, clock } = this.#options;
    return { at: stopwatch.now(), wall: clock.now() };
  }

  /** Whether no other process can own the partitions of this one. */
  isHeld(): boolean {
    if (!this.#renewed) return false;
    const [{ at, wall }, now] = [this.#renewed, this.now()];
    // By both clocks, for one of them may stand still while a machine sleeps.
    const age = Math.max(now.at - at, now.wall - wall);
    return age < this.#options.leaseMs * (1 - MARGIN);
  }

  /** When it was renewed last, in milliseconds since the epoch. Undefined: it is not held. */
  get renewedAt(): number | undefined {
    return this.#renewed?.wall;
  }

  /** A heartbeat that began at this moment succeeded. */
  renew(began: Moment): void {
    const { stopwatch, leaseMs, ended } = this.#options;
    this.#renewed = began;
    this.#cancelEnd?.();
    const restMs = began.at + leaseMs - stopwatch.now();
    this.#cancelEnd = stopwatch.after(Math.max(0, restMs), ended);
  }

  /** From now on it may run out without `ended`. */
  ignoreEnd(): void {
    this.#cancelEnd?.();
  }

  /** It is not held any more, whatever its age. */
  drop(): void {
    this.#cancelEnd?.();
    this.#renewed = undefined;
  }
}
