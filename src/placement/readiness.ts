import type { Unready } from "../model/readiness.ts";
import { type Clock, publicCause, type Stopwatch } from "../ports.ts";

export interface MemberReadinessOptions {
  readonly clock: Pick<Clock, "now">;
  readonly stopwatch: Pick<Stopwatch, "now">;
}

interface Failed {
  /** When it was opened last, by the stopwatch. */
  readonly at: number;
  readonly unready: Unready;
}

/** Why a member of a fleet does not serve its partitions, and since when. */
export class MemberReadiness {
  readonly #options: MemberReadinessOptions;
  #heartbeatFailure: Unready | undefined;
  #excluded: Unready | undefined;
  readonly #failed = new Map<number, Failed>();

  constructor(options: MemberReadinessOptions) {
    this.#options = options;
  }

  /** Whether the latest heartbeat failed. */
  get isHeartbeatFailing(): boolean {
    return this.#heartbeatFailure !== undefined;
  }

  /** A heartbeat failed with this cause; undefined: it succeeded. */
  heartbeat(cause?: unknown): void {
    this.#heartbeatFailure = cause === undefined ? undefined : this.#unready(
      `this process cannot renew its leases: ${publicCause(cause)}`,
      this.#heartbeatFailure,
    );
  }

  /** Records whether this member is excluded. Returns whether that has changed. */
  exclude(isExcluded: boolean): boolean {
    if (isExcluded === (this.#excluded !== undefined)) return false;
    const cause = "this process and others of the fleet cannot reach each other";
    this.#excluded = isExcluded ? this.#unready(cause) : undefined;
    return true;
  }

  /** A partition could not be served. */
  failed(partition: number, cause: unknown): void {
    const unready = this.#unready(publicCause(cause), this.#failed.get(partition)?.unready);
    const at = this.#options.stopwatch.now();
    this.#failed.set(partition, { at, unready: { partition, ...unready } });
  }

  /** How long ago a partition could not be served. Infinity: it was not tried, or is served. */
  sinceFailed(partition: number): number {
    return this.#options.stopwatch.now() - (this.#failed.get(partition)?.at ?? -Infinity);
  }

  /** A partition is served. */
  served(partition: number): void {
    this.#failed.delete(partition);
  }

  /** Forgets failures of partitions that this member does not own any more. */
  owned(isOwn: (partition: number) => boolean): void {
    for (const partition of this.#failed.keys()) {
      if (!isOwn(partition)) this.#failed.delete(partition);
    }
  }

  /** All reasons. `renewedAt`: when the lease was renewed last. */
  list(isHeld: boolean, renewedAt: number | undefined): readonly Unready[] {
    if (!isHeld) {
      const cause = "this process waits for the database to renew its leases";
      return [this.#heartbeatFailure ?? { cause, since: renewedAt ?? this.#options.clock.now() }];
    }
    const failed = [...this.#failed.values()].map(({ unready }) => unready);
    return this.#excluded ? [this.#excluded, ...failed] : failed;
  }

  #unready(cause: string, before?: Unready): Unready {
    return { cause, since: before?.since ?? this.#options.clock.now() };
  }
}
