/** Message types of journal entries, numbered as in docs/spec/service-protocol.md#message-types. */
export const entryType = {
  input: 0x0400,
  output: 0x0401,
  getLazyState: 0x0402,
  setState: 0x0403,
  clearState: 0x0404,
  clearAllState: 0x0405,
  getLazyStateKeys: 0x0406,
  getEagerState: 0x0407,
  getEagerStateKeys: 0x0408,
  getPromise: 0x0409,
  peekPromise: 0x040a,
  completePromise: 0x040b,
  sleep: 0x040c,
  call: 0x040d,
  oneWayCall: 0x040e,
  sendSignal: 0x0410,
  run: 0x0411,
  attach: 0x0412,
  getOutput: 0x0413,
  completeAwakeable: 0x0414,
  getLazyStateCompletion: 0x8002,
  getLazyStateKeysCompletion: 0x8006,
  getPromiseCompletion: 0x8009,
  peekPromiseCompletion: 0x800a,
  completePromiseCompletion: 0x800b,
  sleepCompletion: 0x800c,
  callCompletion: 0x800d,
  callInvocationIdCompletion: 0x800e,
  runCompletion: 0x8011,
  attachCompletion: 0x8012,
  getOutputCompletion: 0x8013,
  signal: 0xfbff,
} as const;

/** Header name and value, in the order of the request. */
export type HeaderPair = readonly [name: string, value: string];

/** A terminal failure: the HTTP-like code, what happened, and the handler's own metadata. */
export interface TerminalFailure {
  readonly code: number;
  readonly message: string;
  readonly metadata?: readonly HeaderPair[];
  /** Only when a retryable failure became the result (retry policy `kill`). */
  readonly stacktrace?: string;
}

/** How an invocation, a run or a promise ended. */
export type Result =
  | { readonly kind: "value"; readonly value: Uint8Array }
  | { readonly kind: "failure"; readonly failure: TerminalFailure };

/** The result in a notification (docs/spec/service-protocol.md#notifications). */
export type NotificationResult =
  | { readonly kind: "void" }
  | Result
  | { readonly kind: "invocationId"; readonly id: string }
  | { readonly kind: "stateKeys"; readonly keys: readonly string[] };

/** The id of a notification: the completion id of a command, or a signal by index or name. */
export type NotificationId =
  | { readonly kind: "completion"; readonly id: number }
  | { readonly kind: "signal"; readonly index: number }
  | { readonly kind: "named"; readonly name: string };

/**
 * One entry of a journal. Entries are immutable; their order is part of determinism
 * (docs/spec/service-protocol.md#order).
 */
export type Entry =
  /** Index 0, written when the invocation is accepted. */
  | {
    readonly kind: "input";
    readonly headers: readonly HeaderPair[];
    readonly value: Uint8Array;
  }
  /** From the SDK. `bytes`: the message body, which is replayed unchanged. */
  | { readonly kind: "command"; readonly type: number; readonly bytes: Uint8Array }
  /** From the server. Encoded anew for each attempt, always to the same bytes. */
  | {
    readonly kind: "notification";
    readonly type: number;
    readonly id: NotificationId;
    readonly result: NotificationResult;
  };

/**
 * The built-in signal that asks an invocation to cancel itself
 * (docs/spec/service-protocol.md#values).
 */
export const CANCEL_SIGNAL = 1;
