import type { Mailbox } from "../ports.ts";
import type { Dial } from "../dial.ts";
import type { Clock, Log, Random } from "../ports.ts";
import type { Schema } from "../model/schema.ts";
import type { Watch } from "../observe/watch.ts";
import type { Contention } from "./contention.ts";
import type { Credentials } from "./credentials/credentials.ts";
import type { Signer } from "./identity/signer.ts";
import type { Functions } from "./lambda/functions.ts";

/** Limits of attempts. Each says what happens when it is reached. */
export interface OutboundOptions {
  /** Sent to endpoints as the cluster name header. ASCII. */
  readonly clusterName: string;
  /** Attempts at once. Beyond it an attempt is forgotten but for its id, until a slot is free. */
  readonly concurrencyMax: number;
  /** The time of waiting for a slot that is worth one level of priority. Milliseconds. */
  readonly priorityAgingMs: number;
  /** The largest message an endpoint may send. A larger one fails its attempt with RT0003. */
  readonly messageBytesMax: number;
  /** Frames received of one attempt that are not durable. Beyond it the endpoint is not read. */
  readonly unackedFramesMax: number;
  /** Frames of one attempt after which `unackedFramesMax` is a sixteenth while others run. */
  readonly burstFramesMax: number;
  /** Bytes received of one attempt that are not durable. Beyond it the endpoint is not read. */
  readonly unackedBytesMax: number;
  /**
   * Bytes of notifications that one slow endpoint may leave unread. Beyond it the request half is
   * closed, so that the invocation suspends and finds the rest in its journal.
   */
  readonly unreadBytesMax: number;
  /**
   * How long an endpoint may take to end its response after a terminal message
   * (docs/spec/service-protocol.md#timers-of-an-attempt).
   */
  readonly drainMs: number;
  readonly connectTimeoutMs: number;
  /** How long a deployment may send no first message before that is logged. */
  readonly firstMessageMs: number;
  /**
   * The highest protocol version used with endpoints that support it
   * (docs/spec/service-protocol.md#versions).
   */
  readonly protocolMax: number;
  /**
   * How deep a tree of awaited futures may be nested (version 7). A deeper one pauses the invocation
   * with RT0025.
   */
  readonly futureDepthMax: number;
}

/** The reference's values where it has any. */
export const OUTBOUND_DEFAULTS: OutboundOptions = {
  clusterName: "localcluster",
  concurrencyMax: 1000,
  priorityAgingMs: 10_000,
  messageBytesMax: 32 * 1024 * 1024,
  unackedFramesMax: 256,
  burstFramesMax: 1_000,
  unackedBytesMax: 1024 * 1024,
  unreadBytesMax: 1024 * 1024,
  drainMs: 5000,
  connectTimeoutMs: 10_000,
  firstMessageMs: 10_000,
  protocolMax: 6,
  futureDepthMax: 1000,
};

/** What attempts depend on. */
export interface OutboundDeps {
  readonly dial: Dial;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly send: Mailbox;
  /**
   * Signs requests (docs/spec/service-protocol.md#signed-requests). Absent: they are not signed.
   */
  readonly signer?: Signer | undefined;
  /** Calls functions. Absent: attempts on functions fail. */
  readonly functions?: Functions | undefined;
  /** What requests show. Absent: only headers that are stored. */
  readonly credentials?: Credentials | undefined;
  /** Shared with the other partitions of the thread. Absent: there are none. */
  readonly contention?: Contention | undefined;
  /** Counts, traces and logs how attempts begin and end. */
  readonly watch?: Watch | undefined;
  /** The current schema. */
  schema(): Schema;
}
