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

  /**
   * Replaces the partitions by those of an assignment. Those that stay go on where they are, and new ones
   * without an offset of the group at their start: `seek` is called for both.
   */
  assign(
    assignment: Readonly<Record<string, readonly number[]>>,
    seek: (topic: string, partition: number, position: number) => void,
  ): void {
    const before = this.#feeds;
    this.#feeds = new Map();
    for (const [topic, partitions] of Object.entries(assignment)) {
      for (const partition of partitions) {
        const key = keyOf(topic, partition);
        const kept = before.get(key);
        before.delete(key);
        const feed = kept ?? this.#begin(topic, partition);
        this.#feeds.set(key, feed);
        feed.goOn();
        const isKnown = kept !== undefined || feed.committed === undefined;
        if (isKnown && feed.position !== undefined) seek(topic, partition, feed.position);
      }
    }
    for (const feed of before.values()) feed.close();
  }

  #begin(topic: string, partition: number): Feed {
    const feed = new Feed(topic, partition);
    const start = this.#starts.get(topic)?.get(partition);
    if (!start) return feed;
    feed.position = start.position;
    feed.end = start.end;
    if (!start.isNew) feed.committed = start.position;
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
