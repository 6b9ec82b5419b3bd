import type { Event, SharesEvent } from "../event.ts";
import type { Turn } from "../turn.ts";
import { begin } from "../lifecycle/started.ts";
import { enqueue, whyNot } from "./admit.ts";
import { balanceShare } from "./share.ts";

/**
 * Slots are reserved for an invocation that waits: it starts, unless that has become impossible since.
 * The reservation ends with this turn.
 */
export function granted(
  turn: Turn,
  { id, seq, reserved }: Event & { type: "granted" },
): void {
  turn.slots.settle({ id, seq }, reserved);
  const row = turn.find("invocation", id);
  if (row?.status.kind !== "queued" || row.status.seq !== seq) return;
  const full = whyNot(turn, { ...row }, { isGranted: true });
  const draft = turn.draft({ ...row });
  if (full) enqueue(turn, draft, full);
  else begin(turn, draft);
}

/** Something about a counter: its token bucket is full, or its slots are shared. */
export function counted(turn: Turn, event: SharesEvent | Event & { type: "bucketFull" }): void {
  if (event.type === "bucketFull") bucketFull(turn, event);
  else balanceShare(turn, event);
}

/** A token bucket is full, so it need not be stored. */
function bucketFull(turn: Turn, { id }: Event & { type: "bucketFull" }): void {
  const bucket = turn.find("bucket", id);
  if (!bucket || bucket.fullAt > turn.now) return;
  turn.drop("bucket", bucket);
  turn.slots.buckets.set(id, undefined);
}
