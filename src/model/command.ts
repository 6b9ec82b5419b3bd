import type { HeaderPair, Result } from "./journal.ts";

/** A command or a run's result. `bytes` is the message body as it came, kept for replay. */
export type Command =
  | { readonly kind: "output"; readonly bytes: Uint8Array; readonly result: Result }
  | { readonly kind: "run"; readonly bytes: Uint8Array; readonly completion: number }
  | { readonly kind: "ranTo"; readonly completion: number; readonly result: Result }
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
  | { readonly kind: "clearAllState"; readonly bytes: Uint8Array };

/** What a call or one-way call asks for. */
export interface CallRequest {
  readonly service: string;
  readonly handler: string;
  readonly key: string;
  readonly headers: readonly HeaderPair[];
  readonly value: Uint8Array;
  readonly idempotencyKey?: string;
}
