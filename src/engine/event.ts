import type { Command } from "../model/command.ts";
import type { AttemptFailure, AttemptSite, Awaiting, Pin } from "../model/invocation.ts";
import type { Result } from "../model/journal.ts";
import type { RecordSource } from "../model/kafka.ts";
import type { Asked, Invoked, Message, Signaled } from "../model/message.ts";
import type { PromiseName } from "../model/promise.ts";
import type { StateEdit } from "../model/state_edit.ts";
import type { ObjectName } from "../model/target.ts";

/** Something that happened. Events are the only input of the engine. */
export type Event =
  | Invoked
  | FramesReceived
  | AttemptEnded
  /** A timer row came due. `jitter` as in `AttemptEnded`. */
  | {
    readonly type: "timerFired";
    readonly id: string;
    readonly due: number;
    readonly kind: "start" | "retry" | "sleep";
    readonly index: number;
  }
  /** A slot is free for an attempt that had to wait: its effect is emitted again. */
  | { readonly type: "slotFree"; readonly id: string; readonly attempt: number }
  /**
   * Slots are reserved for an invocation that waits in a queue, at place `seq`. `reserved`: the counters
   * in which they are.
   */
  | {
    readonly type: "granted";
    readonly id: string;
    readonly seq: number;
    readonly reserved: readonly string[];
  }
  /** The token bucket of a counter (`id`) may be full. */
  | { readonly type: "bucketFull"; readonly id: string }
  | SharesEvent
  /** Boot found this invocation, whose attempt died with the last process. */
  | { readonly type: "recovered"; readonly id: string }
  /** The retention of a completed invocation is over. */
  | { readonly type: "expired"; readonly id: string }
  | Asked
  | Signaled
  | Operated
  | StateEdited
  | PromiseCompleted
  | Delivered
  | Ingested
  | LetterAsked
  /** Another partition has made our messages `first` to `last` (both included) durable. */
  | {
    readonly type: "acknowledged";
    readonly to: number;
    readonly first: number;
    readonly last: number;
  };

/** Something about the shared counter `id` (decision 051). */
export type SharesEvent =
  /** More could start here, or runs here, than the partition has slots and starts for. */
  | {
    readonly type: "shortOfSlots";
    readonly id: string;
    readonly slots: number;
    readonly starts: number;
  }
  /** So many are not used here. */
  | {
    readonly type: "slotsIdle";
    readonly id: string;
    readonly slots: number;
    readonly starts: number;
  }
  /** The partition begins to run, the limits have changed, or the bucket of the counter has tokens. */
  | { readonly type: "sharesDue"; readonly id: string };

/**
 * Messages of another partition, in the order in which it sent them. The effect `reply` has the number of
 * the last one that was applied: all of them are, unless earlier ones are missing.
 */
export interface Delivered {
  readonly type: "delivered";
  readonly from: number;
  /** The number of the first message. */
  readonly first: number;
  readonly messages: readonly Message[];
  readonly reply: number;
}

/** The records of a batch that belong to one partition of ours (decision 052). */
export interface RecordPart {
  readonly source: RecordSource;
  /** All records before it are done with, in all partitions: taken, or passed over. */
  readonly settled: number;
  /** The offset after the last one of the batch. */
  readonly next: number;
  /**
   * The offset after the part before this one that went to the same partition and may not be durable:
   * without that one, this one is not taken. Absent: there is none.
   */
  readonly after?: number;
  /** How many partitions have a part of this batch. Absent: other batches are under way. */
  readonly homes?: number;
  /** In the order of their offsets. None: notes `settled`, and asks how far the partition is. */
  readonly records: readonly RecordRequest[];
}

/** What a record asks for. Its id is the same each time (`kafka/record_id.ts`). */
export interface RecordRequest {
  readonly offset: number;
  readonly request: Omit<Invoked, "type" | "reply">;
}

/** Records of Kafka came in. The effect `reply` has how far they were taken. */
export interface Ingested extends RecordPart {
  readonly type: "ingested";
  readonly reply: number;
}

/** A sidecar asks for a dead letter that is owed, or has written it (decision 053). */
export interface LetterAsked {
  readonly type: "letterAsked";
  readonly id: string;
  /** The attempt whose letter is written. Absent: the letter is asked for. */
  readonly written?: number;
  readonly reply: number;
}

/**
 * An operation of an operator (docs/spec/admin.md#operations-on-invocations). The effect `reply`
 * answers it.
 */
export interface Operated {
  readonly type: "operated";
  readonly id: string;
  readonly operation: Operation;
  readonly reply: number;
}

export type Operation =
  | { readonly kind: "cancel" | "kill" | "pause" | "purge" | "purgeJournal" }
  /** `deployment` absent: the one it is pinned to. */
  | { readonly kind: "resume"; readonly deployment?: DeploymentChoice }
  | {
    readonly kind: "restart";
    /** The id of the new invocation: of the same partition, and fresh. */
    readonly newId: string;
    /** The last journal entry that is copied. Completions of copied commands are copied, too. */
    readonly from: number;
    /** Absent: the latest. */
    readonly deployment?: DeploymentChoice;
  };

/** The deployment to continue on: the latest, the one it is pinned to, or this one. */
export type DeploymentChoice =
  | { readonly kind: "latest" }
  | { readonly kind: "keep" }
  | { readonly kind: "deployment"; readonly id: string };

/** An operator replaces the state of an object, as soon as its lock is free. */
export interface StateEdited {
  readonly type: "stateEdited";
  readonly object: ObjectName;
  readonly edit: StateEdit;
  readonly reply: number;
}

/** An operator completes a durable promise of a workflow (docs/spec/admin.md#promises-of-a-workflow). */
export interface PromiseCompleted {
  readonly type: "promiseCompleted";
  readonly promise: PromiseName;
  readonly result: Result;
  readonly reply: number;
}

/** Frames of one attempt, in the order in which they were received. */
export interface FramesReceived {
  readonly type: "framesReceived";
  readonly id: string;
  readonly attempt: number;
  /** Number of the first frame within its attempt, from 0: frames that were received before are dropped. */
  readonly first: number;
  readonly frames: readonly Command[];
  /** The pin of the attempt: it binds the invocation with the first frame that is stored. */
  readonly pin: Pin;
  /** 16 random bytes for the ids of invocations these frames create. */
  readonly entropy: Uint8Array;
  /** Where the attempt runs, for the failure if a frame is refused, and how long it waited before. */
  readonly site?: AttemptSite;
}

/** The stream of an attempt has ended. */
export interface AttemptEnded {
  readonly type: "attemptEnded";
  readonly id: string;
  readonly attempt: number;
  readonly outcome: Outcome;
  /** A number in [0, 1): the jitter of the next retry. The engine has no randomness of its own. */
  readonly jitter: number;
  /** Where the attempt ran, for its failure, and how long it waited before. */
  readonly site?: AttemptSite;
}

export type Outcome =
  /** `End` was received. */
  | { readonly kind: "ended" }
  /**
   * `Suspension` was received. `delivered`: journal entries below this index had been sent to the SDK,
   * so only later ones can wake it (docs/spec/service-protocol.md#suspension, the watermark).
   */
  | { readonly kind: "suspended"; readonly awaiting: Awaiting; readonly delivered: number }
  | {
    readonly kind: "failed";
    readonly failure: AttemptFailure;
    /**
     * Replaces the delay of the next retry and does not use up an attempt
     * (docs/spec/service-protocol.md#retries).
     */
    readonly retryAfterMs?: number;
    /**
     * Whether the SDK saw the attempt, so that it counts in `Start` field 7
     * (docs/spec/service-protocol.md#failures-since-the-last-command).
     */
    readonly reached: boolean;
    /** What to do instead of a retry. Absent: retry. */
    readonly behavior?: "pause" | "fail";
  };
