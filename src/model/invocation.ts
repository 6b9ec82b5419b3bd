import { assert } from "../assert.ts";
import type { Result, TerminalFailure } from "./journal.ts";
import type { Target } from "./target.ts";
import type { Trace } from "./trace.ts";

/**
 * What a suspended invocation waits for: a tree of combinators
 * (docs/spec/service-protocol.md#values, docs/spec/service-protocol.md#suspension). Protocol
 * versions before 7 know only a flat one, of kind `unknown`. What has arrived is pruned from the
 * tree, so a stored one names only what is still missing: see `model/awaiting.ts`.
 */
export interface Awaiting {
  readonly kind: Combinator;
  readonly completions: readonly number[];
  readonly signals: readonly number[];
  readonly names: readonly string[];
  readonly nested?: readonly Awaiting[];
}

/** `unknown` and `first` are over with any child; `any`: a success, or all; `all`: a failure, or all. */
export type Combinator = "unknown" | "first" | "allCompleted" | "any" | "all";

/** Where an invocation stands. Only `invoked` may have an attempt in flight. */
export type Status =
  /** A delayed send that is not due. */
  | { readonly kind: "scheduled"; readonly at: number }
  /** Waits in its object's inbox, at this place. Shown as `pending`. */
  | { readonly kind: "inboxed"; readonly seq: number }
  /** Has, or will get at once, an attempt. Shown as `ready` until it has a stream, then `running`. */
  | { readonly kind: "invoked" }
  /** The last attempt failed; the next one starts at `until`. */
  | { readonly kind: "backingOff"; readonly until: number }
  /** No attempt: waits for notifications. */
  | { readonly kind: "suspended"; readonly awaiting: Awaiting }
  /** No attempt until somebody resumes it. */
  | { readonly kind: "paused" }
  /** Has its result: a failure, or (when absent) the value in the row's bytes. */
  | { readonly kind: "completed"; readonly failure?: TerminalFailure };

/** Why the last attempt failed, kept as a row so that it survives a restart. */
export interface AttemptFailure {
  /** One of the RT codes of `error_codes.ts`. */
  readonly code: string;
  /** HTTP-like code of the error: 500, 570, 571 … */
  readonly status: number;
  readonly message: string;
  readonly stacktrace?: string;
  /** The command that the error is about, when the SDK told. */
  readonly related?: { readonly index?: number; readonly name?: string; readonly type?: number };
}

/** Where and when an attempt ran: for people to read, nothing is decided by it. */
export interface AttemptSite {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Absent: there was none to run it on. */
  readonly deployment?: string;
  /** Name and version of the SDK. Absent: it has not answered. */
  readonly server?: string;
}

/** Who asked for an invocation. */
export type Origin =
  | { readonly by: "ingress" }
  | { readonly by: "service"; readonly id: string; readonly target: string }
  | { readonly by: "restart"; readonly id: string }
  | { readonly by: "subscription"; readonly id: string };

/** An invocation that awaits this one's result through a command of its own. */
export interface Caller {
  readonly id: string;
  readonly completion: number;
  /** The notification type to answer with: `callCompletion` or `attachCompletion`. */
  readonly type: number;
  /**
   * When the invocation was created: a workflow or an idempotent request that was forgotten may
   * run again under its id, and must not hear what its predecessor waited for.
   */
  readonly since?: number;
}

/** How long a completed invocation's result and journal are kept, in milliseconds. 0: not at all. */
export interface Retention {
  readonly resultMs: number;
  readonly journalMs: number;
}

/**
 * The deployment and protocol version an invocation is bound to
 * (docs/spec/service-protocol.md#pinning).
 */
export interface Pin {
  readonly deployment: string;
  readonly protocol: number;
}

/**
 * One durable run of a handler. Times are milliseconds since the epoch. `invoked.ts` makes it
 * with every field, so that all rows in memory have one shape: copying them is what the engine does most.
 */
export interface InvocationRow {
  readonly id: string;
  readonly target: Target;
  readonly status: Status;
  readonly origin: Origin;
  /** Generation of the current attempt. Raising it is what makes every older stream stale. */
  readonly attempt: number;
  /** Frames of the current attempt that were applied, so that a repeated one is dropped. */
  readonly heard: number;
  /** Entries in the journal, and how many of them are commands (input included). */
  readonly journal: number;
  readonly commands: number;
  /**
   * Failed attempts since it was last started, or resumed after a rest: what the retry policy counts
   * (docs/spec/service-protocol.md#retries).
   */
  readonly failures: number;
  /**
   * Failed attempts since then that the retry policy does not count, because the endpoint chose the
   * delay itself. Absent while 0.
   */
  readonly spared?: number | undefined;
  /**
   * Failed attempts since the last command came in: what `Start` tells the SDK
   * (docs/spec/service-protocol.md#failures-since-the-last-command).
   */
  readonly failuresSinceCommand: number;
  /**
   * When it last changed before the first of these failures: `Start` tells the time since
   * (docs/spec/service-protocol.md#failures-since-the-last-command).
   */
  readonly failingSince?: number | undefined;
  /** Of the last failed attempt, until a later one brings a command. */
  readonly lastFailure?: AttemptFailure | undefined;
  /**
   * Where the last failed attempt ran. An endpoint that did not answer leaves what is known of an
   * earlier one. Kept while the next attempt is to come, or was put off by a pause.
   */
  readonly lastAttempt?: AttemptSite | undefined;
  /** Rows that were written to table `event`, of which the last ones are kept. Absent while 0. */
  readonly events?: number | undefined;
  /** Somebody asked the running attempt to pause: where it ends, the invocation is paused. */
  readonly pausing?: true | undefined;
  /**
   * The invocation whose id seeds randomness: of one that was restarted with a journal
   * (docs/spec/service-protocol.md#restart).
   */
  readonly seedOf?: string | undefined;
  readonly pin?: Pin | undefined;
  readonly trace?: Trace | undefined;
  readonly callers: readonly Caller[];
  readonly idempotencyKey?: string | undefined;
  readonly retention: Retention;
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly scheduledAt?: number | undefined;
  readonly inboxedAt?: number | undefined;
  readonly runningAt?: number | undefined;
  readonly completedAt?: number | undefined;
  /** When the completed row may be forgotten. Absent while it is not completed. */
  readonly expiresAt?: number | undefined;
  /**
   * Set by `Output`, the last one wins; becomes the result at `End`
   * (docs/spec/service-protocol.md#end-of-an-attempt).
   */
  readonly answer?: { readonly failure?: TerminalFailure } | undefined;
  /** The value of a successful answer. The row's one byte column. */
  readonly output?: Uint8Array | undefined;
}

/** A row while one event works on it: see `Turn.edit`. */
export type InvocationDraft = { -readonly [K in keyof InvocationRow]: InvocationRow[K] };

/** The result of a completed invocation. */
export function resultOf({ status, output }: InvocationRow): Result {
  assert(status.kind === "completed", "Only a completed invocation has a result");
  const { failure } = status;
  return failure ? { kind: "failure", failure } : { kind: "value", value: output ?? NOTHING };
}

const NOTHING = new Uint8Array(0);
