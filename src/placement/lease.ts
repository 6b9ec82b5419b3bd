import type { Clock, Stopwatch } from "../ports.ts";

/** The last fraction of a lease, in which its holder does not rely on it: clocks differ in speed. */
const MARGIN = 1 / 6;

/** A point in time, in milliseconds by both clocks. */
export interface Moment {
  readonly at: number;
  readonly wall: number;
}

export interface LeaseOptions {
  readonly stopwatch: Stopwatch;
  readonly clock: Pick<Clock, "now">;
  /** How long a member without a heartbeat counts as alive, in milliseconds. */
  readonly leaseMs: number;
  /** The lease has expired: other members may own the partitions of this one. */
  readonly ended: () => void;
}

/**
 * How long one member may rely on its partitions: for a little less than a lease, from the *beginning*
 * of its last successful heartbeat. The others count a whole lease from when they saw it, each by
 * its own clock, so no two clocks are compared.
 */
export class Lease {
  readonly #options: LeaseOptions;
  #renewed: Moment | undefined;
  #cancelEnd: (() => void) | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** The present. It is read before a heartbeat begins, for `renew`. */
  now(): Moment {
    const { stopwatch, clock } = this.#options;
    return { at: stopwatch.now(), wall: clock.now() };
  }

  /** Whether no other process can own the partitions of this one. */
  isHeld(): boolean {
    if (!this.#renewed) return false;
    const [{ at, wall }, now] = [this.#renewed, this.now()];
    // By both clocks, because one of them may stop while a machine sleeps.
    const age = Math.max(now.at - at, now.wall - wall);
    return age < this.#options.leaseMs * (1 - MARGIN);
  }

  /** When it was renewed last, in milliseconds since the epoch. Undefined: never, or it was dropped. */
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

  /** From now on the lease may expire without a call of `ended`. */
  ignoreEnd(): void {
    this.#cancelEnd?.();
  }

  /** Gives the lease up, whatever its age. */
  drop(): void {
    this.#cancelEnd?.();
    this.#renewed = undefined;
  }
}
