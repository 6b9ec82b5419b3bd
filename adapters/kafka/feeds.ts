import type { Admin } from "kafkajs";
import { Feed } from "./feed.ts";
import type { Starts } from "./start_offsets.ts";

/** A partition whose position the broker does not know. */
export interface Behind {
  readonly feed: Feed;
  readonly topic: string;
  readonly partition: number;
  readonly position: number;
}

/** Partitions by topic. */
export type Assigned = readonly {
  readonly topic: string;
  readonly partitions: readonly number[];
}[];

export interface AssignOptions {
  /** The offset that the group has. Undefined: none. */
  readonly committed: (topic: string, partition: number) => number | undefined;
  readonly seek: (topic: string, partition: number, position: number) => void;
}

/** All partitions that one consumer has been assigned. */
export class Feeds {
  readonly #starts: Starts;
  #feeds = new Map<string, Feed>();

  constructor(starts: Starts) {
    this.#starts = starts;
  }

  all(): readonly Feed[] {
    return [...this.#feeds.values()];
  }

  of(topic: string, partition: number): Feed | undefined {
    return this.#feeds.get(keyOf(topic, partition));
  }

  isAnyStopped(): boolean {
    return this.all().some(({ isStopped }) => isStopped);
  }

  /** Those of an assignment that it did not have so far, as questions about them. */
  unknown(assignment: Assigned): Assigned {
    return assignment.flatMap(({ topic, partitions }) => {
      const others = partitions.filter((partition) => !this.of(topic, partition));
      return others.length > 0 ? [{ topic, partitions: others }] : [];
    });
  }

  /**
   * Replaces the partitions by those of an assignment. Those that stay go on where they are; others at the
   * offset that the group has of them now, and without one at their start: `seek` is called for each, if
   * that is known.
   */
  assign(assignment: Assigned, { committed, seek }: AssignOptions): void {
    const before = this.#feeds;
    this.#feeds = new Map();
    for (const { topic, partitions } of assignment) {
      for (const partition of partitions) {
        const key = keyOf(topic, partition);
        const feed = before.get(key) ?? this.#begin(topic, partition, committed(topic, partition));
        before.delete(key);
        this.#feeds.set(key, feed);
        feed.goOn();
        if (feed.position !== undefined) seek(topic, partition, feed.position);
      }
    }
    for (const feed of before.values()) feed.close();
  }

  /** The start is as old as the consumer: another member may have gone on meanwhile, and committed. */
  #begin(topic: string, partition: number, committed: number | undefined): Feed {
    const feed = new Feed(topic, partition);
    const start = this.#starts.get(topic)?.get(partition);
    feed.committed = committed;
    feed.position = committed ?? start?.position;
    if (start && feed.position === start.position) feed.end = start.end;
    return feed;
  }

  uncommitted(): readonly Behind[] {
    return this.all().flatMap((feed) => {
      const { topic, partition, position, committed } = feed;
      const isBehind = position !== undefined && position !== committed;
      return isBehind ? [{ feed, topic, partition, position }] : [];
    });
  }

  /** Asks for ends, and for positions that are unknown. */
  async refresh(
    admin: Admin,
    { topics, group }: { readonly topics: readonly string[]; readonly group: string },
  ): Promise<void> {
    for (const topic of topics) {
      for (const { partition, high } of await admin.fetchTopicOffsets(topic)) {
        const feed = this.of(topic, partition);
        if (feed) feed.end = Number(high);
      }
    }
    if (this.all().every(({ position }) => position !== undefined)) return;
    for (
      const { topic, partitions } of await admin.fetchOffsets({
        groupId: group,
        topics: [...topics],
      })
    ) {
      for (const { partition, offset } of partitions) {
        const feed = this.of(topic, partition);
        if (feed && Number(offset) >= 0) feed.position ??= Number(offset);
      }
    }
  }

  close(): void {
    for (const feed of this.all()) feed.close();
  }
}

function keyOf(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}
