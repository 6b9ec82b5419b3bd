import { Failure } from "../errors.ts";
import type { HandlerOptions, RetryOptions } from "../model/schema.ts";
import type { RawOptions } from "./manifest_shape.ts";

/**
 * The options that services and handlers share (docs/spec/service-protocol.md#manifests). `owner`:
 * for messages. Throws `Failure` 400 for a retry factor that would make delays negative.
 */
export function handlerOptions(raw: RawOptions, owner: string): HandlerOptions {
  const retry = retryOptions(raw, owner);
  return defined({
    inactivityTimeoutMs: raw.inactivityTimeout,
    abortTimeoutMs: raw.abortTimeout,
    journalRetentionMs: raw.journalRetention,
    idempotencyRetentionMs: raw.idempotencyRetention,
    lazyState: raw.enableLazyState,
    retry: Object.keys(retry).length > 0 ? retry : undefined,
  });
}

function retryOptions(raw: RawOptions, owner: string): RetryOptions {
  const factor = raw.retryPolicyExponentiationFactor;
  if (factor !== undefined && factor < 0) {
    throw Failure.plain(400, `Cannot register ${owner}: its retry factor ${factor} is negative`);
  }
  const attempts = raw.retryPolicyMaxAttempts;
  return defined({
    initialIntervalMs: raw.retryPolicyInitialInterval,
    maxIntervalMs: raw.retryPolicyMaxInterval,
    factor,
    // The first attempt always runs: a maximum of 0 means 1.
    maxAttempts: attempts === undefined ? undefined : Math.max(1, attempts),
    onMaxAttempts: raw.retryPolicyOnMaxAttempts === undefined
      ? undefined
      : raw.retryPolicyOnMaxAttempts === "KILL"
      ? "kill"
      : "pause",
  });
}

/** An object's properties without those that are undefined: absent means "inherit". */
type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The same without its undefined properties, so that a spread does not overwrite with them. */
export function defined<T extends object>(object: T): Defined<T> {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}
