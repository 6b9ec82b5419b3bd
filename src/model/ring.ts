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

/** The partitions of which chance chooses one for an invocation without a key. */
export interface PartitionChoice {
  readonly partitions: number;
  /** Those that this process or thread serves, so that it keeps what it is asked for. Undefined, or none: all. */
  readonly here?: readonly number[] | undefined;
}

/**
 * For so long, invocations without a key that are made in a partition have one place, so that their ids
 * begin alike and a fold touches few pages of the indices (decision 097). In milliseconds.
 */
const PLACE_MS = 1_000;

/** Where in the whole range of partition keys the first place is: `PLACES` equal steps follow. */
const PLACE_OFFSET = upperOf(placeKey(0)) / 2 ** 32;

/**
 * The place (`PLACES`) of an invocation without a key that is made at `now`, in milliseconds since the
 * epoch: all partitions are as likely, and the places of each take turns. `entropy`: 16 random bytes, of
 * which the last two decide.
 */
export function placeAt(
  { partitions, here }: PartitionChoice,
  entropy: Uint8Array,
  now: number,
): number {
  const chance = entropy[14]! << 8 | entropy[15]!;
  const partition = here?.length ? here[chance % here.length]! : chance % partitions;
  const first = firstPlace(partition, partitions);
  const count = firstPlace(partition + 1, partitions) - first;
  return first + Math.floor(now / PLACE_MS) % count;
}

/** The places of a partition go from its first one to that of the next. */
function firstPlace(partition: number, partitions: number): number {
  if (partition === 0) return 0;
  if (partition === partitions) return PLACES;
  return Math.ceil((partition / partitions - PLACE_OFFSET) * PLACES);
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
  return Math.floor(upperOf(key) * partitions / 2 ** 32);
}

function upperOf(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset).getUint32(4, true);
}
