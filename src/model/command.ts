import type { HeaderPair, NotificationId, NotificationResult, Result } from "./journal.ts";

/** A command or the result of a run. `bytes`: the message body unchanged, kept for replay. */
export type Command =
  | { readonly kind: "output"; readonly bytes: Uint8Array; readonly result: Result }
  | { readonly kind: "run"; readonly bytes: Uint8Array; readonly completion: number }
  | {
    readonly kind: "runCompletion";
    readonly completion: number;
    readonly result: Result;
    /**
     * Version 7: the attempt accepts an acknowledgement instead of the result
     * (docs/spec/service-protocol.md#runs).
     */
    readonly wantsAck?: boolean;
  }
  | {
    readonly kind: "sleep";
    readonly bytes: Uint8Array;
    readonly completion: number;
    readonly wakeAt: number;
  }
  | {
    readonly kind: "call";
    readonly bytes: Uint8Array;
    readonly invocationIdCompletion: number;
    readonly completion: number;
    readonly request: CallRequest;
  }
  | {
    readonly kind: "oneWayCall";
    readonly bytes: Uint8Array;
    readonly invocationIdCompletion: number;
    /** Milliseconds since the epoch; 0: now. */
    readonly startAt: number;
    readonly request: CallRequest;
  }
  | {
    readonly kind: "getLazyState";
    readonly bytes: Uint8Array;
    readonly key: string;
    readonly completion: number;
  }
  | { readonly kind: "getLazyStateKeys"; readonly bytes: Uint8Array; readonly completion: number }
  | { readonly kind: "getEagerState"; readonly bytes: Uint8Array }
  | { readonly kind: "getEagerStateKeys"; readonly bytes: Uint8Array }
  | {
    readonly kind: "setState";
    readonly bytes: Uint8Array;
    readonly key: string;
    readonly value: Uint8Array;
  }
  | { readonly kind: "clearState"; readonly bytes: Uint8Array; readonly key: string }
  | { readonly kind: "clearAllState"; readonly bytes: Uint8Array }
  | {
    readonly kind: "getPromise" | "peekPromise";
    readonly bytes: Uint8Array;
    readonly key: string;
    readonly completion: number;
  }
  | {
    readonly kind: "completePromise";
    readonly bytes: Uint8Array;
    readonly key: string;
    readonly result: Result;
    readonly completion: number;
  }
  /** A signal for another invocation, or for this one. `target`: a well-formed invocation id. */
  | {
    readonly kind: "sendSignal" | "completeAwakeable";
    readonly bytes: Uint8Array;
    /** Absent: an awakeable of the oldest protocols, which no invocation of this server can have created. */
    readonly signal?: Signal;
  }
  | {
    readonly kind: "attach" | "getOutput";
    readonly bytes: Uint8Array;
    readonly subject: Subject;
    readonly completion: number;
  };

/** A signal to be delivered (docs/spec/service-protocol.md#signals). */
export interface Signal {
  readonly target: string;
  readonly id: SignalId;
  readonly result: SignalResult;
}

export type SignalId = Exclude<NotificationId, { kind: "completion" }>;
export type SignalResult = Exclude<NotificationResult, { kind: "invocationId" | "stateKeys" }>;

/**
 * The invocation whose result is read (docs/spec/service-protocol.md#results-of-others). Ids and scopes are
 * well-formed.
 */
export type Subject =
  | { readonly by: "invocation"; readonly id: string }
  | {
    readonly by: "workflow";
    readonly service: string;
    readonly key: string;
    readonly scope?: string;
  }
  | {
    readonly by: "idempotencyKey";
    readonly service: string;
    readonly handler: string;
    readonly key?: string;
    readonly idempotencyKey: string;
    readonly scope?: string;
  };

/** The request of a call or one-way call. */
export interface CallRequest {
  readonly service: string;
  readonly handler: string;
  readonly key: string;
  readonly headers: readonly HeaderPair[];
  readonly value: Uint8Array;
  readonly idempotencyKey?: string;
  /** Of protocol version 7, as the SDK sent them: the engine refuses what is not valid. */
  readonly scope?: string;
  readonly limitKey?: string;
}
