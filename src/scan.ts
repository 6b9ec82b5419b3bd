import type { Counted } from "./engine/flow/counters.ts";
import type { Queued } from "./engine/flow/slots.ts";
import type { InvocationRow } from "./model/invocation.ts";
import type { Rows, Timer } from "./model/rows.ts";

/** Index reads: for boot, timers and retention, never for the engine. Each is paged by `limit`. */
export type Scan =
  /** Invocations that hold slots (`engine/flow/status.ts`), ordered by id, after `after` (exclusive). */
  | { readonly kind: "holders"; readonly after?: string; readonly limit: number }
  /**
   * Invocations that are `queued`, in order of (queue, seq), strictly after `after`. `isSameQueue`: only
   * those of the queue of `after`.
   */
  | {
    readonly kind: "queued";
    readonly after?: Pick<Queued, "queue" | "seq">;
    readonly isSameQueue?: boolean;
    readonly limit: number;
  }
  /** Invocations of subscriptions that are not completed, ordered by id, after `after` (exclusive). */
  | { readonly kind: "ingested"; readonly after?: string; readonly limit: number }
  /** Invocations that owe a dead letter (decision 053), ordered by id, after `after` (exclusive). */
  | { readonly kind: "letters"; readonly after?: string; readonly limit: number }
  /** Token buckets that are full again at or before `until`. */
  | { readonly kind: "fullBuckets"; readonly until: number; readonly limit: number }
  /** Timers in order of (due, id, item), strictly after `after` when given. */
  | { readonly kind: "timers"; readonly after?: Timer; readonly limit: number }
  /** Completed invocations whose `expiresAt` is at or before `until`. */
  | { readonly kind: "expired"; readonly until: number; readonly limit: number }
  /** Messages for other partitions, in order of (`peerOf`, seq), strictly after `after`. */
  | {
    readonly kind: "outbox";
    readonly after?: Pick<Rows["outbox"], "to" | "seq">;
    readonly limit: number;
  };

export type ScanRow<Q extends Scan> = Q["kind"] extends "timers" ? Timer
  : Q["kind"] extends "outbox" ? Rows["outbox"]
  : Q["kind"] extends "holders" ? Holder | DamagedHolder
  : Q["kind"] extends "queued" ? Queued
  : Q["kind"] extends "ingested" ? OfSubscription
  : Pick<InvocationRow, "id">;

/** An invocation that holds slots. */
export type Holder = Pick<InvocationRow, "id" | "target" | "limitKey" | "status">;

/**
 * A row that an index has among those that hold slots, and whose content does not say so (decision 069).
 * A turn cannot read it either.
 */
export interface DamagedHolder {
  readonly id: string;
  /** What is wrong with it, for the log. */
  readonly damage: string;
  /** What its slots would be counted in. Absent: its content cannot be read. */
  readonly counted?: Counted;
}

/** An invocation that a subscription made. */
export interface OfSubscription {
  readonly id: string;
  /** The id of the subscription. */
  readonly subscription: string;
}
