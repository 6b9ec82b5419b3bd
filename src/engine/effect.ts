import type { InvocationRow, Pin } from "../model/invocation.ts";
import type { Entry, Result } from "../model/journal.ts";
import type { Message } from "../model/message.ts";
import type { Target } from "../model/target.ts";

/** Something the world must do, once the turn that asked for it is durable. Never before. */
export type Effect =
  /**
   * Run an attempt, from this consistent snapshot
   * (docs/spec/service-protocol.md#start-of-an-attempt).
   */
  | Attempt
  /** A notification for a running attempt. `index` is its place in the journal. */
  | {
    readonly type: "notify";
    readonly id: string;
    readonly attempt: number;
    readonly index: number;
    readonly entry: Entry;
  }
  /** An invocation has its result: whoever waits for it can have it. */
  | {
    readonly type: "completed";
    readonly id: string;
    readonly result: Result;
  }
  | Reply
  /** A timer row was written. */
  | {
    readonly type: "armTimer";
    readonly id: string;
    readonly due: number;
    readonly kind: "start" | "retry" | "sleep";
    readonly index: number;
  }
  /** A message for another partition was written: number `seq` of those for it. */
  | {
    readonly type: "forward";
    readonly to: number;
    readonly seq: number;
    readonly message: Message;
  }
  /** The attempt in flight, if any, is void: its stream must be closed. */
  | { readonly type: "abort"; readonly id: string; readonly attempt: number }
  /** The attempt in flight should come to rest: it is told that nothing more will come. */
  | { readonly type: "yield"; readonly id: string; readonly attempt: number };

/** How a request was taken. */
export interface Reply {
  readonly type: "reply";
  readonly reply: number;
  /** The invocation it is about; of a restart: the new one. */
  readonly id: string;
  readonly status: ReplyStatus;
  /** When the original delayed send starts, in milliseconds since the epoch. */
  readonly startAt?: number;
  /** The answer, when there is one already. Absent: wait for `completed`. */
  readonly result?: Result;
  /** Set when the answer comes from a stored completion. Milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** Whose result was asked for, or what was to be moved elsewhere: the request knows only an id. */
  readonly target?: Target;
  /** With `otherProtocol`: what the invocation is bound to. */
  readonly pin?: Pin;
  /** `delivered`: the last message that was heard, now or before. */
  readonly heard?: number;
}

export type ReplyStatus =
  | "accepted"
  | "previouslyAccepted"
  /** Operations: it is so now; or it was asked for, and will be so soon. */
  | "done"
  | "underway"
  /** No such invocation. */
  | "unknown"
  /** `asked`: it has no result yet. */
  | "notReady"
  /**
   * Operations that an invocation in this state does not allow
   * (docs/spec/admin.md#operations-on-invocations).
   */
  | "completed"
  | "notCompleted"
  | "notStarted"
  | "notRunning"
  | "stillRunning"
  | "notPinned"
  | "noInput"
  | "noRestart"
  | "openPrefix"
  | "unknownDeployment"
  | "otherProtocol";

export interface Attempt {
  readonly type: "attempt";
  /** Generation of this attempt. */
  readonly attempt: number;
  readonly invocation: InvocationRow;
  /** Entries 0 … n-1, in order. */
  readonly entries: readonly Entry[];
  /** Eager state. Absent for plain services and lazy handlers: send an empty, partial map. */
  readonly state?: { readonly partial: boolean; readonly pairs: readonly StatePair[] };
}

export interface StatePair {
  readonly name: string;
  readonly value: Uint8Array;
}
