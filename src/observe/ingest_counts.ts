/** A partition of a topic, as one subscription reads it. */
export interface IngestLabels {
  readonly subscription: string;
  readonly topic: string;
  readonly partition: number;
}

/** Numbers since the process began. */
export interface IngestNumbers {
  /** Records that are durable as invocations, those that came again included. */
  readonly taken: number;
  /** Of these, records that came again, and were dropped. */
  readonly replays: number;
  /** Batches that ended at a record that cannot become an invocation. */
  readonly poison: number;
  /** Batches that were not taken whole, since too many invocations of the subscription wait. */
  readonly full: number;
}

/** Partitions that are counted. Further ones are not, so that a page of metrics stays small. */
const PARTITIONS_MAX = 10_000;

/** Counts what sidecars hand over, and what they report. */
export class IngestCounts {
  readonly #counts = new Map<string, readonly [IngestLabels, IngestNumbers]>();
  readonly #commitFailures = new Map<string, number>();

  /** Adds the numbers of one batch. */
  add(labels: IngestLabels, { taken, replays, poison, full }: IngestNumbers): void {
    const { subscription, topic, partition } = labels;
    const key = JSON.stringify([subscription, topic, partition]);
    const [, before = NOTHING] = this.#counts.get(key) ?? [];
    if (before === NOTHING && this.#counts.size >= PARTITIONS_MAX) return;
    const after = {
      taken: before.taken + taken,
      replays: before.replays + replays,
      poison: before.poison + poison,
      full: before.full + full,
    };
    this.#counts.set(key, [labels, after]);
  }

  /** A sidecar could not have the offsets of a subscription kept by the broker, so often. */
  addCommitFailures(subscription: string, times: number): void {
    const before = this.#commitFailures.get(subscription) ?? 0;
    if (before === 0 && this.#commitFailures.size >= PARTITIONS_MAX) return;
    this.#commitFailures.set(subscription, before + times);
  }

  /** Commits that have failed, by subscription. */
  get commitFailures(): ReadonlyMap<string, number> {
    return this.#commitFailures;
  }

  [Symbol.iterator](): Iterator<readonly [IngestLabels, IngestNumbers]> {
    return this.#counts.values();
  }
}

const NOTHING: IngestNumbers = { taken: 0, replays: 0, poison: 0, full: 0 };
