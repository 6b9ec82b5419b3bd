import type { Admin } from "kafkajs";
import { type OffsetReset, offsetResetOf, type Options } from "../../src/kafka/options.ts";

/** Where reading of a partition begins. */
export interface Start {
  readonly position: number;
  readonly end: number;
}

/** By topic, then by partition. */
export type Starts = ReadonlyMap<string, ReadonlyMap<number, Start>>;

export interface StartOptions {
  readonly group: string;
  readonly topics: readonly string[];
  readonly options: Options;
  /** What was there before: partitions that came into being later are read from their beginning. */
  readonly seen: SeenPartitions;
}

/** The topics, and their partitions, that were there when a subscription first asked for them. */
export class SeenPartitions {
  #topics: ReadonlySet<string> | undefined;
  readonly #counts = new Map<string, number>();

  /** The topics that there are now. What the first call is told counts. */
  sawTopics(topics: readonly string[]): void {
    this.#topics ??= new Set(topics);
  }

  /** So many partitions has a topic now. The first call for each topic counts. */
  sawPartitions(topic: string, count: number): void {
    if (!this.#counts.has(topic)) this.#counts.set(topic, this.#topics?.has(topic) ? count : 0);
  }

  /** Whether a partition came into being later. */
  isYoung(topic: string, partition: number): boolean {
    return partition >= (this.#counts.get(topic) ?? Infinity);
  }
}

/**
 * Where to begin: at the offset of the group, else at `offset.start`, else as `auto.offset.reset` says.
 * Throws where that is `error` and the group has no offset.
 */
export async function startsOf(admin: Admin, wanted: StartOptions): Promise<Starts> {
  const { group, topics } = wanted;
  const committed = await admin.fetchOffsets({ groupId: group, topics: [...topics] });
  const starts = new Map<string, ReadonlyMap<number, Start>>();
  for (const topic of topics) {
    const offsets = committed.find((one) => one.topic === topic)?.partitions ?? [];
    const known = new Map(offsets.map((one) => [one.partition, Number(one.offset)]));
    starts.set(topic, await ofTopic(admin, topic, known, wanted));
  }
  return starts;
}

async function ofTopic(
  admin: Admin,
  topic: string,
  committed: ReadonlyMap<number, number>,
  { options, seen }: StartOptions,
): Promise<ReadonlyMap<number, Start>> {
  const ends = await admin.fetchTopicOffsets(topic);
  const isCommitted = (partition: number) => (committed.get(partition) ?? -1) >= 0;
  const areAllCommitted = ends.every(({ partition }) => isCommitted(partition));
  const time = areAllCommitted ? undefined : options["offset.start"];
  const timed = time === undefined
    ? undefined
    : await admin.fetchTopicOffsetsByTimestamp(topic, Date.parse(time));
  seen.sawPartitions(topic, ends.length);
  const resetOf = (partition: number) =>
    seen.isYoung(topic, partition) ? "earliest" : offsetResetOf(options);
  return new Map(ends.map(({ partition, low, high }): [number, Start] => {
    const end = Number(high);
    if (isCommitted(partition)) {
      return [partition, { position: committed.get(partition) ?? 0, end }];
    }
    const at = timed?.find((one) => one.partition === partition)?.offset;
    const position = at === undefined
      ? resetTo(resetOf(partition), topic, partition, [low, high])
      : Number(at);
    return [partition, { position, end }];
  }));
}

/** Where `auto.offset.reset` leads in a partition from `low` to `high`. Throws where it is `error`. */
export function resetTo(
  reset: OffsetReset,
  topic: string,
  partition: number,
  [low, high]: readonly [string, string],
): number {
  if (reset !== "error") return Number(reset === "earliest" ? low : high);
  throw new NoOffset(
    `The group has no offset in partition ${partition} of "${topic}", and auto.offset.reset is error`,
  );
}

/** `auto.offset.reset` is `error`, and that is what happened. */
export class NoOffset extends Error {
  override name = "NoOffset";
}
