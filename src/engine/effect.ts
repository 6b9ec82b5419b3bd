import type { InvocationRow, Pin } from "../model/invocation.ts";
import type { Entry, Result } from "../model/journal.ts";
import type { OwedLetter } from "../model/kafka.ts";
import type { Message } from "../model/message.ts";
import type { Target } from "../model/target.ts";

/** Work outside the engine, which is carried out once the turn that emitted it is durable. */
export type Effect =
  /**
   * Run an attempt, from this consistent snapshot
   * (docs/spec/service-protocol.md#start-of-an-attempt).
   */
  | Attempt
  /** A notification for a running attempt. `index`: of its journal entry. */
  | {
    readonly type: "notify";
    readonly id: string;
    readonly attempt: number;
    readonly index: number;
    readonly entry: Entry;
  }
  /** An invocation has its result, and requests that wait for it get it. */
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
  /** A message for another partition was written. `seq`: its number among those for this partition. */
  | {
    readonly type: "forward";
    readonly to: number;
    readonly seq: number;
    readonly message: Message;
  }
  /** The attempt in flight, if any, is void: its stream must be closed. */
  | { readonly type: "abort"; readonly id: string; readonly attempt: number }
  /** The attempt in flight should suspend: its request is ended, since no more input follows. */
  | { readonly type: "yield"; readonly id: string; readonly attempt: number };

/** How the engine took a request. */
export interface Reply {
  readonly type: "reply";
  readonly reply: number;
  /** The invocation of the request; of a restart: the new one. */
  readonly id: string;
  readonly status: ReplyStatus;
  /** When the original delayed send starts, in milliseconds since the epoch. */
  readonly startAt?: number;
  /** The result, if there is one already. Absent: wait for `completed`. */
  readonly result?: Result;
  /** Set when the result is that of a stored completion. Milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** The target of the invocation that was read or moved, since the request has only its id. */
  readonly target?: Target;
  /** With `otherProtocol`: the pin of the invocation. */
  readonly pin?: Pin;
  /** Of `delivered`: number of the last message that was ever applied. */
  readonly heard?: number;
  /** Of `ingested`: all records of this partition before this offset were taken. */
  readonly next?: number;
  /** Of `ingested` without records: `settled` and `homes` of the row of the source. */
  readonly settled?: number;
  readonly homes?: number;
  /** Of `ingested`: there is no room for the record at `next`. */
  readonly isFull?: true;
  /** Of `ingested`: how many records had been taken before, and were dropped. Absent: none. */
  readonly replays?: number;
  /** Of `letterAsked`: absent if none is owed any more. */
  readonly letter?: OwedLetter;
}

export type ReplyStatus =
  | "accepted"
  | "previouslyAccepted"
  /** Operations: it is done; or it is requested, and happens soon. */
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
