import type { PartitionReport } from "../../src/model/kafka.ts";

/** Why a partition stands. */
export type Stop = NonNullable<PartitionReport["stoppedBy"]>;

/** The waits of a partition that stands: they double up to the last. */
const WAITS: Readonly<Record<Stop["kind"], { readonly firstMs: number; readonly lastMs: number }>> =
  {
    poison: { firstMs: 200, lastMs: 10_000 },
    inbox: { firstMs: 100, lastMs: 1_000 },
  };

/** What is known of one partition of a topic that this sidecar has been assigned. */
export class Feed {
  readonly topic: string;
  readonly partition: number;
  /** The next offset to deliver. Undefined: unknown yet. */
  position: number | undefined;
  /** What the broker has been told. Undefined: nothing. */
  committed: number | undefined;
  end: number | undefined;
  /** All before it is done with, as the server knew when it was asked. Undefined: it was not asked yet. */
  known: number | undefined;
  /** Why records before `known` are others than those that are done with. Undefined: they are the same. */
  anew: string | undefined;
  /** Records to pass over. */
  readonly passed = new Set<number>();
  #stop: Stop | undefined;
  #stops = 0;
  #goOn: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(topic: string, partition: number) {
    this.topic = topic;
    this.partition = partition;
  }

  get stoppedBy(): Stop | undefined {
    return this.#stop;
  }

  get isStopped(): boolean {
    return this.#goOn !== undefined;
  }

  /** Everything before `next` is durable. */
  advance(next: number): void {
    if (next === this.position) return;
    this.position = next;
    this.#stop = undefined;
    this.#stops = 0;
    for (const offset of this.passed) if (offset < next) this.passed.delete(offset);
  }

  /** The partition has other offsets than thought: the server is to be asked again. */
  reset(next: number): void {
    this.advance(next);
    this.known = undefined;
    this.anew = undefined;
  }

  /** Whether the record is done with, or to be passed over. */
  isPassed(offset: number): boolean {
    return this.passed.has(offset) || (this.anew === undefined && offset < (this.known ?? 0));
  }

  /** Stands for a while, then calls `goOn` once. */
  stop(stop: Stop, goOn: () => void): void {
    const { firstMs, lastMs } = WAITS[stop.kind];
    if (stop.kind !== this.#stop?.kind) this.#stops = 0;
    this.#stop = stop;
    this.#goOn = goOn;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.goOn(), Math.min(lastMs, firstMs * 2 ** this.#stops++));
  }

  /** Ends the wait, if there is one. What it stands at is known until something else comes of it. */
  goOn(): void {
    clearTimeout(this.#timer);
    const goOn = this.#goOn;
    this.#goOn = undefined;
    goOn?.();
  }

  /** Forgets that it stands. */
  close(): void {
    clearTimeout(this.#timer);
    this.#goOn = undefined;
    this.#stop = undefined;
  }

  report(): PartitionReport {
    const { topic, partition, position, end, stoppedBy } = this;
    return {
      topic,
      partition,
      ...(position !== undefined && { position }),
      ...(end !== undefined && { end }),
      ...(stoppedBy && { stoppedBy }),
    };
  }
}
