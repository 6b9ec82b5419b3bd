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
 * where `latest` is the first record since the subscription was created (decision 087). Throws where it
 * is `error` and the group has no offset.
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
  { options, seen, createdAt }: StartOptions,
): Promise<ReadonlyMap<number, Start>> {
  const ends = await admin.fetchTopicOffsets(topic);
  seen.sawPartitions(topic, ends.length);
  const positionOf = (partition: number) => {
    const position = committed.get(partition) ?? -1;
    return position >= 0 ? position : undefined;
  };
  const areAllCommitted = ends.every(({ partition }) => positionOf(partition) !== undefined);
  const resets = areAllCommitted ? undefined : await resetsOf(admin, topic, { options, createdAt });
  return new Map(ends.map(({ partition, low, high }): [number, Start] => {
    const isYoung = options["offset.start"] === undefined && seen.isYoung(topic, partition);
    const reset = () => isYoung ? Number(low) : resets?.(partition, [low, high]) ?? Number(high);
    return [partition, { position: positionOf(partition) ?? reset(), end: Number(high) }];
  }));
}

/** The position of a partition from `low` to `high`, of which the group has no offset. */
export type Reset = (partition: number, [low, high]: readonly [string, string]) => number;

/**
 * Where partitions without an offset of the group begin: `offset.start` and `auto.offset.reset`. What
 * resolves throws `NoOffset` where that is `error`.
 */
export async function resetsOf(
  admin: Admin,
  topic: string,
  { options, createdAt }: Pick<StartOptions, "options" | "createdAt">,
): Promise<Reset> {
  const start = options["offset.start"];
  const reset = offsetResetOf(options);
  if (start === undefined && reset !== "latest") {
    return (partition, [low]) => {
      if (reset === "earliest") return Number(low);
      throw new NoOffset(
        `The group has no offset in partition ${partition} of "${topic}", and auto.offset.reset is error`,
      );
    };
  }
  const since = start === undefined ? createdAt : Date.parse(start);
  const found = await admin.fetchTopicOffsetsByTimestamp(topic, since);
  return (partition, [, high]) =>
    Number(found.find((one) => one.partition === partition)?.offset ?? high);
}

/** `auto.offset.reset` is `error`, and that is what happened. */
export class NoOffset extends Error {
  override name = "NoOffset";
}
