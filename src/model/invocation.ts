import { assert } from "../assert.ts";
import type { Result, TerminalFailure } from "./journal.ts";
import type { Target } from "./target.ts";
import type { Trace } from "./trace.ts";

/**
 * The awaited tree of a suspended invocation: combinators
 * (docs/spec/service-protocol.md#values, docs/spec/service-protocol.md#suspension). Protocol
 * versions before 7 know only a flat one, of kind `unknown`. Completed leaves are pruned,
 * so a stored tree has only those that are still awaited: see `model/awaiting.ts`.
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

/** The status of an invocation. Only `invoked` may have an attempt in flight. */
export type Status =
  /** A delayed send that is not due. */
  | { readonly kind: "scheduled"; readonly at: number }
  /** Waits in the inbox of its object, in row `seq`. Shown as `pending`. */
  | { readonly kind: "inboxed"; readonly seq: number }
  /**
   * Waits until a limit or a pause allows its next attempt. The order within a `queue` (`flow/queue.ts`)
   * is that of `seq`. `since`: milliseconds since the epoch. `by`: why it began to wait.
   */
  | {
    readonly kind: "queued";
    readonly queue: string;
    readonly seq: number;
    readonly since: number;
    readonly by: "concurrency" | "rate" | "paused";
  }
  /** Has, or will get at once, an attempt. Shown as `ready` until it has a stream, then `running`. */
  | { readonly kind: "invoked" }
  /** The last attempt failed; the next one starts at `until`. `holds`: its slots stay taken. */
  | { readonly kind: "backingOff"; readonly until: number; readonly holds?: true }
  /** No attempt: waits for notifications. */
  | { readonly kind: "suspended"; readonly awaiting: Awaiting }
  /**
   * No attempt until it is resumed. `letterSince`: when `max.attempts` of its subscription was used up, in
   * milliseconds since the epoch. It fails once its record is in the dead letter topic (decision 053).
   */
  | { readonly kind: "paused"; readonly letterSince?: number }
  /** Has its result: a failure, or (when absent) the value in the row's bytes. */
  | { readonly kind: "completed"; readonly failure?: TerminalFailure };

/** Whether an invocation of this status holds its slots (decision 050). */
export function holdsSlots(status: Status): boolean {
  return status.kind === "invoked" || status.kind === "backingOff" && status.holds === true;
}

/** Since when it waits for its dead letter, in milliseconds since the epoch. Undefined: it owes none. */
export function letterSinceOf(
  { status, origin }: Pick<InvocationRow, "status" | "origin">,
): number | undefined {
  return status.kind === "paused" && origin.by === "subscription" ? status.letterSince : undefined;
}

/** Why the last attempt failed, kept as a row so that it survives a restart. */
export interface AttemptFailure {
  /** One of the RT codes of `error_codes.ts`. */
  readonly code: string;
  /** HTTP-like code of the error: 500, 570, 571 … */
  readonly status: number;
  readonly message: string;
  readonly stacktrace?: string;
  /** The command that the error is about, if the SDK named one. */
  readonly related?: { readonly index?: number; readonly name?: string; readonly type?: number };
}

/** Where and when an attempt ran, for operators: no decision depends on it. */
export interface AttemptSite {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Absent: there was no deployment to run it on. */
  readonly deployment?: string;
  /** Name and version of the SDK. Absent: it has not answered. */
  readonly server?: string;
  /** Milliseconds that it waited for a slot before it began. Absent: a slot was free. */
  readonly waitedMs?: number;
}

/**
 * Milliseconds: for the lock of its object, for limits and pauses, and of its attempts for slots of the
 * invoker. Absent: 0.
 */
export interface WaitedMs {
  readonly lock?: number;
  readonly concurrency?: number;
  readonly rate?: number;
  readonly paused?: number;
  readonly invoker?: number;
}

/** How often an invocation was suspended, for operators: no decision depends on it. */
export interface Suspensions {
  readonly count: number;
  /** Attempts that asked to be suspended when what they awaited was there, and were followed at once. */
  readonly yields?: number;
  /** Milliseconds in all, without the present one. */
  readonly ms: number;
  /** When the present one began, in milliseconds since the epoch. Absent: it is not suspended. */
  readonly since?: number;
}

/** The source of an invocation. */
export type Origin =
  | { readonly by: "ingress" }
  | { readonly by: "service"; readonly id: string; readonly target: string }
  | { readonly by: "restart"; readonly id: string }
  | { readonly by: "subscription"; readonly id: string };

/** An invocation that awaits this one's result through a command of its own. */
export interface Caller {
  readonly id: string;
  readonly completion: number;
  /** The notification type of the completion: `callCompletion` or `attachCompletion`. */
  readonly type: number;
  /**
   * When the caller was created: a workflow or an idempotent request that was deleted may run again
   * under its id, and must not receive the results that its predecessor awaited.
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
 * One durable run of a handler. Times are milliseconds since the epoch. `invoked.ts` creates it with
 * every field, so that all rows in memory have one shape: the engine copies them very often.
 */
export interface InvocationRow {
  readonly id: string;
  readonly target: Target;
  readonly status: Status;
  readonly origin: Origin;
  /** Generation of the current attempt. Raising it makes every older stream stale. */
  readonly attempt: number;
  /** Frames of the current attempt that were applied, so that duplicates are dropped. */
  readonly heard: number;
  /** Entries in the journal, and how many of them are commands (input included). */
  readonly journal: number;
  readonly commands: number;
  /**
   * Failed attempts since it was last started or woken, which the retry policy counts
   * (docs/spec/service-protocol.md#retries).
   */
  readonly failures: number;
  /**
   * Failed attempts since then that the retry policy does not count, because the endpoint chose the
   * delay itself. Absent while 0.
   */
  readonly spared?: number | undefined;
  /**
   * Failed attempts since the last command was stored, as `Start` has them for the SDK
   * (docs/spec/service-protocol.md#failures-since-the-last-command).
   */
  readonly failuresSinceCommand: number;
  /**
   * When it last changed before the first of these failures: `Start` has the time since then
   * (docs/spec/service-protocol.md#failures-since-the-last-command).
   */
  readonly failingSince?: number | undefined;
  /** The failure of the last attempt, until a command is stored. */
  readonly lastFailure?: AttemptFailure | undefined;
  /**
   * Where the last failed attempt ran. Fields that an endpoint without a response cannot set keep the
   * values of an earlier attempt. Kept until the next attempt, also during a pause.
   */
  readonly lastAttempt?: AttemptSite | undefined;
  /** How many rows were ever written to table `event`; the last ones are kept. Absent while 0. */
  readonly events?: number | undefined;
  /** Attempts that have failed in all. For operators: no decision depends on it. Absent while 0. */
  readonly failed?: number | undefined;
  /** A pause is requested: when the running attempt ends, the invocation is paused. */
  readonly pausing?: true | undefined;
  /**
   * Of a restart with a journal: the invocation whose id seeds randomness
   * (docs/spec/service-protocol.md#restart).
   */
  readonly seedOf?: string | undefined;
  readonly pin?: Pin | undefined;
  readonly trace?: Trace | undefined;
  readonly callers: readonly Caller[];
  readonly idempotencyKey?: string | undefined;
  /** One level or two, separated by a slash: what rules count within the scope. */
  readonly limitKey?: string | undefined;
  /** 0 … 9, the highest. Absent: the default. */
  readonly priority?: number | undefined;
  /** How long it has waited in all, by cause; its present wait is not in it. Absent: never. */
  readonly waitedMs?: WaitedMs | undefined;
  /** Absent: never, or not since a version that counts them. */
  readonly suspensions?: Suspensions | undefined;
  readonly retention: Retention;
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly scheduledAt?: number | undefined;
  readonly inboxedAt?: number | undefined;
  readonly runningAt?: number | undefined;
  readonly completedAt?: number | undefined;
  /** When the first retention of a completed invocation is over. Absent while it is not completed. */
  readonly expiresAt?: number | undefined;
  /**
   * Set by `Output`, the last one wins; becomes the result at `End`
   * (docs/spec/service-protocol.md#end-of-an-attempt).
   */
  readonly answer?: { readonly failure?: TerminalFailure } | undefined;
  /** The value of a successful answer. The row's one byte column. */
  readonly output?: Uint8Array | undefined;
}

/** A row while one event works on it: see `Turn.edit`. Its status is changed by `setStatus`. */
export type InvocationDraft =
  & { -readonly [K in keyof Changing]: Changing[K] }
  & Pick<InvocationRow, "status">;
type Changing = Omit<InvocationRow, "status">;

/** The result of a completed invocation. */
export function resultOf({ status, output }: InvocationRow): Result {
  assert(status.kind === "completed", "Only a completed invocation has a result");
  const { failure } = status;
  return failure ? { kind: "failure", failure } : { kind: "value", value: output ?? NOTHING };
}

const NOTHING = new Uint8Array(0);
