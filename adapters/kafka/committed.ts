import type { Assigned } from "./feeds.ts";
import type { OffsetsAsked, OffsetsFound } from "./kafkajs_patches.ts";

/** Offsets that a group has, as far as they were asked for. */
export class Committed {
  readonly #offsets = new Map<string, number | undefined>();

  /** The offset of a partition. Undefined: the group has none. */
  of(topic: string, partition: number): number | undefined {
    return this.#offsets.get(keyOf(topic, partition));
  }

  /** What to ask of these partitions: those that were not asked for. */
  missing(wanted: Assigned): OffsetsAsked[] {
    return wanted.flatMap(({ topic, partitions }) => {
      const asked = partitions.filter((one) => !this.#offsets.has(keyOf(topic, one)));
      return asked.length > 0
        ? [{ topic, partitions: asked.map((partition) => ({ partition })) }]
        : [];
    });
  }

  /** What was found. Partitions that were asked for and are not there have none. */
  add(asked: readonly OffsetsAsked[], found: readonly OffsetsFound[]): void {
    for (const { topic, partitions } of asked) {
      for (const { partition } of partitions) this.#offsets.set(keyOf(topic, partition), undefined);
    }
    for (const { topic, partitions } of found) {
      for (const { partition, offset } of partitions) {
        if (Number(offset) >= 0) this.#offsets.set(keyOf(topic, partition), Number(offset));
      }
    }
  }
}

function keyOf(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}
