import { sha256 } from "@noble/hashes/sha2.js";
import { digestOfList } from "../model/digest.ts";
import { type InvocationIdentity, invocationIdWith, newInvocationId } from "../model/id.ts";
import type { RecordSource } from "../model/kafka.ts";

/** What the sink of a record is, with its key. */
export type RecordIdentity = Omit<InvocationIdentity, "idempotencyKey">;

/** The id of the invocation that a record becomes. `fresh`: as of `newInvocationId`. */
export type RecordId = (
  offset: number,
  identity: RecordIdentity,
) => { readonly id: string; readonly fresh: boolean };

/** Bytes of an id from a digest. The rest is the offset. */
const DIGEST_BYTES = 9;
const UNIQUE_BYTES = 16;
/** So many records without a key, one after the other, share a partition: a small batch is one commit. */
const RUN = 16;
/** Of 64 places, the golden section: runs that follow each other are far apart. */
const STRIDE = 39;

/**
 * Ids of the invocations of a source. A record has the same id each time, so that a batch that is sent
 * again is split over partitions as before. Those with a key are where every call of that key is. The
 * run of a workflow has the id that it always has.
 */
export function recordIdsOf({ subscription, group, topic, partition }: RecordSource): RecordId {
  const source = digestOfList(["kafka", subscription, topic, String(partition), group]);
  const seed = new Uint8Array(source.length + 8);
  seed.set(source);
  const view = new DataView(seed.buffer);
  return (offset, identity) => {
    if (identity.isWorkflowRun) return newInvocationId(identity, source, 0);
    view.setBigUint64(source.length, BigInt(offset));
    const unique = new Uint8Array(UNIQUE_BYTES);
    unique.set(sha256(seed).subarray(0, DIGEST_BYTES));
    setOffset(unique, offset);
    const place = source[0]! + STRIDE * (Math.floor(offset / RUN) % 64);
    return { id: invocationIdWith(unique, identity, place), fresh: true };
  };
}

/** Most significant byte last: ids of one partition key then begin alike, as those that are drawn. */
function setOffset(unique: Uint8Array, offset: number): void {
  let rest = offset;
  for (let i = DIGEST_BYTES; i < UNIQUE_BYTES; i++) {
    unique[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
}
