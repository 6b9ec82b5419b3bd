import type { Admin } from "kafkajs";
import { type OffsetReset, offsetResetOf, type Options } from "../../src/kafka/options.ts";

/** Where reading of a partition begins. */
export interface Start {
  readonly position: number;
  readonly end: number;
  /** The group has no offset of it yet. */
  readonly isNew: boolean;
}

/** By topic, then by partition. */
export type Starts = ReadonlyMap<string, ReadonlyMap<number, Start>>;

export interface StartOptions {
  readonly group: string;
  readonly topics: readonly string[];
  readonly options: Options;
  /** Topics that came into being after the subscription: they are read from their beginning. */
  readonly young: ReadonlySet<string>;
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
  { options, young }: StartOptions,
): Promise<ReadonlyMap<number, Start>> {
  const ends = await admin.fetchTopicOffsets(topic);
  const isCommitted = (partition: number) => (committed.get(partition) ?? -1) >= 0;
  const areAllCommitted = ends.every(({ partition }) => isCommitted(partition));
  const time = areAllCommitted ? undefined : options["offset.start"];
  const timed = time === undefined
    ? undefined
    : await admin.fetchTopicOffsetsByTimestamp(topic, Date.parse(time));
  const reset = young.has(topic) ? "earliest" : offsetResetOf(options);
  return new Map(ends.map(({ partition, low, high }): [number, Start] => {
    const end = Number(high);
    if (isCommitted(partition)) {
      return [partition, { position: committed.get(partition) ?? 0, end, isNew: false }];
    }
    const at = timed?.find((one) => one.partition === partition)?.offset;
    const position = at === undefined ? resetTo(reset, topic, partition, [low, high]) : Number(at);
    return [partition, { position, end, isNew: true }];
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
