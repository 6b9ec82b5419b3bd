import type { Admin } from "kafkajs";
import { offsetResetOf, type Options } from "../../src/kafka/options.ts";

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
  /** When the subscription was created. */
  readonly createdAt: number;
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
 * Where to begin: at the offset of the group, else at `offset.start`, else as `auto.offset.reset` says,
 * where `latest` is the first record since the subscription was created (decision 087). Throws
 * `NoOffset` where that is `error` and the group has no offset.
 */
export async function startsOf(admin: Admin, wanted: StartOptions): Promise<Starts> {
  const { group, topics } = wanted;
  const committed = await admin.fetchOffsets({ groupId: group, topics: [...topics] });
  const starts = new Map<string, ReadonlyMap<number, Start>>();
  for (const topic of topics) {
    const offsets = committed.find((one) => one.topic === topic)?.partitions ?? [];
    const known = offsets.map((one) => [one.partition, Number(one.offset)] as const);
    const positions = new Map(known.filter(([, offset]) => offset >= 0));
    starts.set(topic, await ofTopic(admin, topic, positions, wanted));
  }
  return starts;
}

async function ofTopic(
  admin: Admin,
  topic: string,
  committed: ReadonlyMap<number, number>,
  { options, seen, createdAt }: StartOptions,
): Promise<ReadonlyMap<number, Start>> {
  const all = await admin.fetchTopicOffsets(topic);
  seen.sawPartitions(topic, all.length);
  const isFromBeginning = (partition: number) =>
    options["offset.start"] === undefined && seen.isYoung(topic, partition);
  const others = all.filter(({ partition }) =>
    !committed.has(partition) && !isFromBeginning(partition)
  );
  const reset = await resetPositions(admin, topic, others, { options, createdAt });
  return new Map(all.map(({ partition, low, high }): [number, Start] => {
    const position = committed.get(partition) ?? reset.get(partition) ?? Number(low);
    return [partition, { position, end: Number(high) }];
  }));
}

/** The first offset of a partition, and the one behind its last. */
export interface Ends {
  readonly partition: number;
  readonly low: string;
  readonly high: string;
}

/**
 * The positions of partitions of which the group has no offset, or one that they lack: by `offset.start`
 * and `auto.offset.reset`. Rejects with `NoOffset` where that is `error` and there are any.
 */
export async function resetPositions(
  admin: Admin,
  topic: string,
  partitions: readonly Ends[],
  { options, createdAt }: Pick<StartOptions, "options" | "createdAt">,
): Promise<ReadonlyMap<number, number>> {
  const [first] = partitions;
  if (!first) return new Map();
  const start = options["offset.start"];
  const reset = offsetResetOf(options);
  if (start === undefined && reset !== "latest") {
    if (reset === "earliest") {
      return new Map(partitions.map((one) => [one.partition, Number(one.low)]));
    }
    throw new NoOffset(
      `The group has no offset in partition ${first.partition} of "${topic}", and auto.offset.reset is error`,
    );
  }
  const since = start === undefined ? createdAt : Date.parse(start);
  const found = await admin.fetchTopicOffsetsByTimestamp(topic, since);
  const positions = new Map(found.map(({ partition, offset }) => [partition, Number(offset)]));
  return new Map(
    partitions.map(({ partition, high }) => [partition, positions.get(partition) ?? Number(high)]),
  );
}

/** `auto.offset.reset` is `error`, and that is what happened. */
export class NoOffset extends Error {
  override name = "NoOffset";
}
