import type { Awaiting } from "../model/invocation.ts";
import { FieldReader, fieldSet, lengthTag, numberTag } from "./field_reader.ts";
import { FutureReader } from "./future_reader.ts";

/** Limits beyond which a well-formed message is refused. */
export interface DecodeLimits {
  /**
   * Levels of awaited futures in version 7, the outermost included
   * (docs/spec/service-protocol.md#frames). More than 1000 count as 1000.
   */
  readonly futureDepthMax: number;
}

const FLAT_FIELDS = fieldSet(1, 2, 3);

const SUSPENSION_TREE = lengthTag(4);
const SUSPENSION_TREE_FIELDS = fieldSet(4);

const AWAITING_TREE = lengthTag(1);
const SIDE_EFFECTS = numberTag(2);
const AWAITING_FIELDS = fieldSet(1, 2);

/**
 * The awaited tree of a `Suspension` (docs/spec/service-protocol.md#control-messages): a tree without
 * empty combinators. Before version 7 it is flat and of kind `unknown`. Throws `Failure` RT0025 for
 * a tree that is too deep.
 */
export function decodeSuspension(
  bytes: Uint8Array,
  version: number,
  { futureDepthMax }: DecodeLimits,
): Awaiting {
  const reader = new FieldReader(bytes);
  const future = new FutureReader(reader, futureDepthMax);
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (version < 7) {
      if (!future.readLeaf(tag)) reader.skip(tag, FLAT_FIELDS);
    } else if (tag === SUSPENSION_TREE) future.read();
    else reader.skip(tag, SUSPENSION_TREE_FIELDS);
  }
  return future.finish();
}

/**
 * Checks an `AwaitingOn` of version 7, which is for information only
 * (docs/spec/service-protocol.md#control-messages).
 */
export function decodeAwaitingOn(bytes: Uint8Array, { futureDepthMax }: DecodeLimits): void {
  const reader = new FieldReader(bytes);
  const future = new FutureReader(reader, futureDepthMax);
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === AWAITING_TREE) future.read();
    else if (tag === SIDE_EFFECTS) reader.uint32();
    else reader.skip(tag, AWAITING_FIELDS);
  }
  future.finish();
}
