import { assert } from "../assert.ts";
import { Failure } from "../errors.ts";
import type { Unready } from "../model/readiness.ts";
import type { PartitionRange } from "../model/ring.ts";
import { ByHandler } from "../observe/by_handler.ts";
import type { PartitionGauges } from "../observe/metrics.ts";
import { STATUSES } from "../observe/status_counts.ts";
import type { PartitionClient } from "../ports.ts";
import type { Host } from "./host.ts";

/** The partitions that this process serves: all of them, or those that it owns. */
export class Hosts {
  readonly partitions: number;
  readonly #make: (range: PartitionRange) => Host;
  readonly #hosts = new Map<number, Host>();

  constructor(partitions: number, make: (range: PartitionRange) => Host) {
    this.partitions = partitions;
    this.#make = make;
  }

  /** Begins to serve partitions; absent: all. Rejects when one cannot be claimed or read. */
  async open(partitions: Iterable<number> = Array(this.partitions).keys()): Promise<void> {
    const opening = [...partitions].map((partition) => {
      assert(!this.#hosts.has(partition), "A partition is opened once");
      const host = this.#make({ partition, partitions: this.partitions });
      this.#hosts.set(partition, host);
      return host.open();
    });
    await Promise.all(opening);
  }

  /** Stops to serve a partition. Does not wait: durable rows need nothing more. */
  leave(partition: number): void {
    this.#hosts.get(partition)?.close();
    this.#hosts.delete(partition);
  }

  /** Limits or pauses have changed: who may start now does. */
  controlsChanged(): void {
    for (const host of this.#hosts.values()) host.controlsChanged();
  }

  has(partition: number): boolean {
    return this.#hosts.has(partition);
  }

  /** The client of a partition. Throws `Failure` 503 when this process does not serve it. */
  partitionClient(partition: number): PartitionClient {
    const host = this.#hosts.get(partition);
    if (!host) throw Failure.plain(503, "the partition is not here");
    return host.partitionClient;
  }

  /** The partitions of this process that take no requests, or cannot make them durable. */
  async unready(): Promise<readonly Unready[]> {
    const all = await Promise.all([...this.#hosts.values()].map((host) => host.unready()));
    return all.filter((one) => one !== undefined);
  }

  /** Requests that wait for an answer. */
  get waiting(): number {
    let sum = 0;
    for (const { waiting } of this.#hosts.values()) sum += waiting;
    return sum;
  }

  /** The values of this moment, summed. Undefined: a partition has no life. */
  gauges(): PartitionGauges | undefined {
    let sum: PartitionGauges | undefined;
    for (const host of this.#hosts.values()) {
      const gauges = host.gauges();
      if (!gauges) return undefined;
      sum = sum ? added(sum, gauges) : gauges;
    }
    return sum;
  }

  /** How many invocations are in each status. Undefined: not all counted within `timeoutMs`. */
  async statusCounts(timeoutMs: number): Promise<ByHandler | undefined> {
    const all = [...this.#hosts.values()];
    const counts = await Promise.all(all.map((host) => host.statusCounts(timeoutMs)));
    const [first] = counts;
    if (counts.length === 1) return first;
    const sum = new ByHandler(STATUSES.length);
    for (const count of counts) {
      if (!count) return undefined;
      for (const [service, handler, numbers] of count) {
        numbers.forEach((number, at) => sum.add({ service, handler }, at, number));
      }
    }
    return sum;
  }

  close(): void {
    for (const host of this.#hosts.values()) host.close();
  }
}

function added(a: PartitionGauges, b: PartitionGauges): PartitionGauges {
  return {
    mailboxEvents: a.mailboxEvents + b.mailboxEvents,
    residentBytes: a.residentBytes + b.residentBytes,
    timers: a.timers + b.timers,
    running: a.running + b.running,
    queued: a.queued + b.queued,
    logRows: a.logRows + b.logRows,
    logBytes: a.logBytes + b.logBytes,
  };
}
