import type { Signal } from "./command.ts";
import type { Caller, Origin, Retention } from "./invocation.ts";
import type { HeaderPair, NotificationResult } from "./journal.ts";
import type { Target } from "./target.ts";
import type { Trace } from "./trace.ts";

/** A message from one invocation to another, within a partition or between two. */
export type Message =
  | Invoked
  | Asked
  | Signaled
  /** The completion of a command that waits for another invocation. */
  | { readonly type: "answered"; readonly caller: Caller; readonly result: NotificationResult }
  /** The invocation that called this one was killed. */
  | { readonly type: "killed"; readonly id: string }
  | ShareMessage;

/**
 * A message about a counter that all partitions share (decision 051), from a partition to the home of
 * the counter, or back. `slots` and `starts` are numbers of those, `to` is a partition.
 */
export type ShareMessage =
  /** A partition asks the home for as many, and waits for `slotsGiven`. */
  | ShareTransfer & { readonly type: "slotsWanted"; readonly from: number }
  /**
   * The home gives at least one of what was asked for. `isWanted`: others wait for slots. `since`: the
   * `tightenedAt` of the limits by which it was given. Absent: 0.
   */
  | ShareTransfer & {
    readonly type: "slotsGiven";
    readonly isWanted: boolean;
    readonly since?: number;
  }
  /** A partition gives back what it does not use. */
  | ShareTransfer & { readonly type: "slotsReturned"; readonly from: number }
  /**
   * Under limits that were tightened at `since`, a partition has as many slots as it runs: `slots` more
   * than before, or fewer. It has given back all `starts` (decision 079).
   */
  | ShareTransfer & {
    readonly type: "slotsCounted";
    readonly from: number;
    readonly since: number;
  }
  /** Others wait for slots: the partition is to give back each one that it does not use. */
  | { readonly type: "slotsRecalled"; readonly counter: string; readonly to: number };

interface ShareTransfer {
  readonly counter: string;
  readonly to: number;
  readonly slots: number;
  readonly starts: number;
}

/** A request to run a handler. */
export interface Invoked {
  readonly type: "invoked";
  readonly id: string;
  /** Whether the id is new and random: then no row can have it, which saves a read. */
  readonly fresh: boolean;
  readonly target: Target;
  readonly headers: readonly HeaderPair[];
  readonly value: Uint8Array;
  readonly origin: Origin;
  readonly retention: Retention;
  readonly idempotencyKey?: string;
  /** As in `InvocationRow`. */
  readonly limitKey?: string;
  readonly priority?: number;
  /** When to start, in milliseconds since the epoch. Absent or past: now. */
  readonly startAt?: number;
  readonly trace?: Trace | undefined;
  /** The invocation that awaits this one's result. */
  readonly caller?: Caller;
  /** Token of the request that waits for the effect `reply`. */
  readonly reply?: number;
}

/** A request for the result of an invocation, which may not exist. */
export interface Asked {
  readonly type: "asked";
  readonly id: string;
  /** Whether to wait for the result. If not, a missing one is answered at once. */
  readonly wait: boolean;
  /** The command that reads it, … */
  readonly caller?: Caller;
  /** … or the token of the request that does (effect `reply`). */
  readonly reply?: number;
}

/** A signal for an invocation: a resolved awakeable, or one that a handler sent. */
export interface Signaled {
  readonly type: "signaled";
  readonly signal: Signal;
  /** Token of the request that waits until it is durable. */
  readonly reply?: number;
}

/** The id of the invocation that a message is for, which decides the partition. */
export function addressee(message: Exclude<Message, ShareMessage>): string {
  switch (message.type) {
    case "invoked":
    case "asked":
    case "killed":
      return message.id;
    case "signaled":
      return message.signal.target;
    case "answered":
      return message.caller.id;
  }
}

/** Whether a message is for a partition (`to`), not for an invocation. */
export function isShareMessage(message: Message): message is ShareMessage {
  return "counter" in message;
}

/** The one large part of a message, if it has one. */
export function messageBytes(message: Message): Uint8Array | undefined {
  const result = message.type === "answered"
    ? message.result
    : message.type === "signaled"
    ? message.signal.result
    : undefined;
  if (message.type === "invoked") return message.value;
  return result?.kind === "value" ? result.value : undefined;
}

/** The same message with other bytes where `messageBytes` finds them. */
export function withMessageBytes(message: Message, value: Uint8Array): Message {
  switch (message.type) {
    case "invoked":
      return { ...message, value };
    case "signaled":
      return { ...message, signal: { ...message.signal, result: { kind: "value", value } } };
    case "answered":
      return { ...message, result: { kind: "value", value } };
    default:
      return message;
  }
}
