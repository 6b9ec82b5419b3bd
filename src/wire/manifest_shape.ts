import {
  any,
  array,
  boolean,
  coerce,
  enums,
  type Infer,
  integer,
  max,
  min,
  number,
  optional,
  pattern,
  record,
  string,
  type Struct,
  type,
  unknown,
} from "superstruct";

// The shape of a manifest, versions 1 to 4 in one (docs/spec/service-protocol.md#manifests).
// Unknown fields are passed over: otherwise every new option of an SDK would break registration.

/** Half of the time a `Date` can hold, so that now plus a duration is a time as well. */
const DURATION_MS_MAX = 4.32e15;

/** An optional field. SDKs may spell its absence as null. */
function maybe<T, S>(struct: Struct<T, S>) {
  return coerce(optional(struct), any(), (value) => value === null ? undefined : value);
}

/**
 * Milliseconds. Durations beyond the limit are reduced to it. The condition accepts anything:
 * superstruct makes an error with a stack trace each time a condition does not hold, and most
 * durations are absent.
 */
const duration = coerce(
  max(min(integer(), 0), DURATION_MS_MAX),
  any(),
  (ms) => typeof ms === "number" ? Math.min(ms, DURATION_MS_MAX) : ms,
);

const optionFields = {
  documentation: maybe(string()),
  metadata: maybe(record(string(), string())),
  inactivityTimeout: maybe(duration),
  abortTimeout: maybe(duration),
  journalRetention: maybe(duration),
  idempotencyRetention: maybe(duration),
  enableLazyState: maybe(boolean()),
  ingressPrivate: maybe(boolean()),
  retryPolicyInitialInterval: maybe(duration),
  retryPolicyMaxInterval: maybe(duration),
  retryPolicyMaxAttempts: maybe(min(integer(), 0)),
  retryPolicyExponentiationFactor: maybe(number()),
  retryPolicyOnMaxAttempts: maybe(enums(["PAUSE", "KILL"])),
};

const inputShape = type({
  required: maybe(boolean()),
  contentType: maybe(string()),
  jsonSchema: unknown(),
});

const outputShape = type({
  contentType: maybe(string()),
  setContentTypeIfEmpty: maybe(boolean()),
  jsonSchema: unknown(),
});

/** A handler within `serviceShape`. */
export const handlerShape = type({
  ...optionFields,
  name: pattern(string(), /^([a-zA-Z]|_[a-zA-Z0-9])[a-zA-Z0-9_]*$/),
  ty: maybe(enums(["EXCLUSIVE", "SHARED", "WORKFLOW"])),
  input: maybe(inputShape),
  output: maybe(outputShape),
  workflowCompletionRetention: maybe(duration),
});

/** A service within `manifestShape`. Its handlers are checked one by one. */
export const serviceShape = type({
  ...optionFields,
  name: pattern(string(), /^([a-zA-Z]|_[a-zA-Z0-9])[a-zA-Z0-9._-]*$/),
  ty: enums(["SERVICE", "VIRTUAL_OBJECT", "WORKFLOW"]),
  handlers: array(unknown()),
});

/**
 * A manifest as an endpoint sends it. Its services are checked one by one; its own rules are in
 * `manifest.ts`.
 */
export const manifestShape = type({
  protocolMode: maybe(enums(["BIDI_STREAM", "REQUEST_RESPONSE"])),
  minProtocolVersion: min(integer(), 1),
  maxProtocolVersion: min(integer(), 1),
  services: array(unknown()),
});

export interface RawManifest extends Infer<typeof manifestShape> {
  readonly services: RawService[];
}
export interface RawService extends Infer<typeof serviceShape> {
  readonly handlers: RawHandler[];
}
export type RawHandler = Infer<typeof handlerShape>;
export type RawInput = Infer<typeof inputShape>;
export type RawOutput = Infer<typeof outputShape>;
/** The options that services and handlers share. */
export type RawOptions = Pick<RawService, Exclude<keyof typeof optionFields, never>>;
