import type { Command } from "../model/command.ts";
import type { AttemptFailure, AttemptSite, Awaiting, Pin } from "../model/invocation.ts";
import type { Asked, Invoked, Message, Signaled } from "../model/message.ts";
import type { StateEdit } from "../model/state_edit.ts";

/** Something that happened. Everything the engine will ever know arrives as one of these. */
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
  /** A slot is free for an attempt that found none: say again what it needs. */
  | { readonly type: "slotFree"; readonly id: string; readonly attempt: number }
  /** Boot found this invocation with an attempt that died with the last process. */
  | { readonly type: "recovered"; readonly id: string }
  /** The retention of a completed invocation is over. */
  | { readonly type: "expired"; readonly id: string }
  | Asked
  | Signaled
  | Operated
  | StateEdited
  | Delivered
  /** Another partition has these of our messages, for good: from `first` to `last`, both included. */
  | {
    readonly type: "acknowledged";
    readonly to: number;
    readonly first: number;
    readonly last: number;
  };

/**
 * Messages of another partition, in the order it sent them. The effect `reply` tells up to which one
 * they were heard: all of them, unless some before them are missing.
 */
export interface Delivered {
  readonly type: "delivered";
  readonly from: number;
  /** The number of the first one. */
  readonly first: number;
  readonly messages: readonly Message[];
  readonly reply: number;
}

/**
 * An operator's wish (docs/spec/admin.md#operations-on-invocations). Answered by the effect
 * `reply`.
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
    /** The last journal entry that is copied, with the completions of what is copied. */
    readonly from: number;
    /** Absent: the latest. */
    readonly deployment?: DeploymentChoice;
  };

/** Where to go on: on the latest revision, where it is pinned, or on this one. */
export type DeploymentChoice =
  | { readonly kind: "latest" }
  | { readonly kind: "keep" }
  | { readonly kind: "deployment"; readonly id: string };

/** An operator wants another state for an object, once nobody holds it. */
export interface StateEdited {
  readonly type: "stateEdited";
  readonly service: string;
  readonly key: string;
  readonly edit: StateEdit;
  readonly reply: number;
}

/** Frames of one attempt, in the order they came. */
export interface FramesReceived {
  readonly type: "framesReceived";
  readonly id: string;
  readonly attempt: number;
  /** Number of the first frame within its attempt, from 0: what is already known is dropped. */
  readonly first: number;
  readonly frames: readonly Command[];
  /** What the attempt runs on: pins the invocation with the first frame that is stored. */
  readonly pin: Pin;
  /** 16 random bytes for the ids of invocations these frames create. */
  readonly entropy: Uint8Array;
  /** Where the attempt runs, should a frame be refused. */
  readonly site?: AttemptSite;
}

/** A stream to a service is over. */
export interface AttemptEnded {
  readonly type: "attemptEnded";
  readonly id: string;
  readonly attempt: number;
  readonly outcome: Outcome;
  /** A number in [0, 1): the jitter of the next retry. The engine knows no chance of its own. */
  readonly jitter: number;
  /** Where the attempt ran, should it have failed. */
  readonly site?: AttemptSite;
}

export type Outcome =
  /** `End` came. */
  | { readonly kind: "ended" }
  /**
   * `Suspension` came. `delivered`: journal entries below this index had been written to the SDK,
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
    /** What to do instead of trying again. Absent: try again. */
    readonly behavior?: "pause" | "fail";
  };
