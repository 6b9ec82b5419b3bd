import { parseInvocationId, partitionKeyOf, placeKey, PLACES } from "./id.ts";

/**
 * The range of a partition within an installation. The 64-bit partition key that every id begins with is
 * cut into ranges of equal size, one for each partition, in order
 * (docs/spec/storage-layout.md#partitions). Only its upper half decides, which is
 * enough for the number of partitions.
 */
export interface PartitionRange {
  /** The number of the partition, from 0. */
  readonly partition: number;
  /** The number of partitions. It is stored when the data is created, and never changes. */
  readonly partitions: number;
}

/** The range of the partition in an installation that has only one. */
export const ONLY_PARTITION: PartitionRange = { partition: 0, partitions: 1 };

/** The most partitions an installation may have: invocations without a key are spread over so many. */
export const PARTITIONS_MAX = 64;

/** The partition of a well-formed invocation id. Throws `BadId`. */
export function partitionOfId(id: string, partitions: number): number {
  return partitions === 1 ? 0 : partitionOfKey(parseInvocationId(id), partitions);
}

/**
 * Which of the places of invocations without a key (`model/id.ts`) are in some partitions: the process or
 * thread that serves these keeps what it is asked for. Undefined: all places do.
 */
export function placesIn(here: readonly number[], partitions: number): Uint8Array | undefined {
  if (here.length === partitions) return undefined;
  const own = new Set(here);
  const places = [...Array(PLACES).keys()].filter((place) =>
    own.has(partitionOfKey(placeKey(place), partitions))
  );
  return places.length === 0 ? undefined : Uint8Array.from(places);
}

/** The partition of an object or a workflow, and of every invocation of it: that of its scope, if any. */
export function partitionOfObject(
  { key, scope }: { readonly key: string; readonly scope?: string | undefined },
  partitions: number,
): number {
  return partitions === 1 ? 0 : partitionOfKey(partitionKeyOf(scope ?? key), partitions);
}

/**
 * The partition that owns the token bucket of a counter (`engine/flow/counters.ts`): that of the scope; of a service and its handlers, the
 * one that its name leads to.
 */
export function partitionOfCounter(counter: string, partitions: number): number {
  const name = counter.slice(counter.indexOf(":") + 1);
  const slash = name.indexOf("/");
  return partitionOfObject({ key: slash < 0 ? name : name.slice(0, slash) }, partitions);
}

/** `key`: 8 bytes or more, of which the first 8 are a partition key, in little-endian order. */
function partitionOfKey(key: Uint8Array, partitions: number): number {
  const upper = new DataView(key.buffer, key.byteOffset).getUint32(4, true);
  return Math.floor(upper * partitions / 2 ** 32);
}
