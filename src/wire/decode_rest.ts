import type { Command } from "../model/command.ts";
import type { AttemptFailure } from "../model/invocation.ts";
import { Undecodable } from "./field_reader.ts";
import {
  Behavior,
  ClearAllStateCommandSchema,
  ClearStateCommandSchema,
  EndSchema,
  ErrorSchema,
  GetEagerStateKeysCommandSchema,
  GetLazyStateCommandSchema,
  GetLazyStateKeysCommandSchema,
  OneWayCallCommandSchema,
  SleepCommandSchema,
} from "./gen/service_pb.ts";
import { readBody } from "./generated_reader.ts";
import { clampCode } from "./result_reader.ts";
import { readUtf8 } from "../utf8.ts";

// Messages that are rare enough for the generated code, and name no other invocation. `bytes` is the
// decoder's own copy of a body.

/** The latest time a `Date` can hold. Later times are clamped to it. */
const TIME_MAX = 8.64e15;
/** Half of it, so that now plus a delay is a time as well. */
const DELAY_MS_MAX = 4.32e15;

/** `GetLazyStateCommand` (docs/spec/service-protocol.md#commands). */
export function decodeGetLazyState(bytes: Uint8Array): Command {
  const { key, resultCompletionId } = readBody(GetLazyStateCommandSchema, bytes);
  return { kind: "getLazyState", bytes, key: text(key), completion: resultCompletionId };
}

/** `ClearStateCommand` (docs/spec/service-protocol.md#commands). */
export function decodeClearState(bytes: Uint8Array): Command {
  return { kind: "clearState", bytes, key: text(readBody(ClearStateCommandSchema, bytes).key) };
}

/** `ClearAllStateCommand` (docs/spec/service-protocol.md#commands). */
export function decodeClearAllState(bytes: Uint8Array): Command {
  readBody(ClearAllStateCommandSchema, bytes);
  return { kind: "clearAllState", bytes };
}

/** `GetLazyStateKeysCommand` (docs/spec/service-protocol.md#commands). */
export function decodeGetLazyStateKeys(bytes: Uint8Array): Command {
  const { resultCompletionId } = readBody(GetLazyStateKeysCommandSchema, bytes);
  return { kind: "getLazyStateKeys", bytes, completion: resultCompletionId };
}

/** `GetEagerStateKeysCommand`: a record of a read (docs/spec/service-protocol.md#state). */
export function decodeGetEagerStateKeys(bytes: Uint8Array): Command {
  const { value } = readBody(GetEagerStateKeysCommandSchema, bytes);
  if (!value) throw new Undecodable("it has no value");
  for (const key of value.keys) text(key);
  return { kind: "getEagerStateKeys", bytes };
}

/** `SleepCommand` (docs/spec/service-protocol.md#commands). */
export function decodeSleep(bytes: Uint8Array): Command {
  const { wakeUpTime, resultCompletionId } = readBody(SleepCommandSchema, bytes);
  const wakeAt = Math.min(Number(wakeUpTime), TIME_MAX);
  return { kind: "sleep", bytes, completion: resultCompletionId, wakeAt };
}

/** `OneWayCallCommand` (docs/spec/service-protocol.md#commands), like `CallCommand`. */
export function decodeOneWayCall(bytes: Uint8Array): Command {
  const message = readBody(OneWayCallCommandSchema, bytes);
  const { scope, limitKey, idempotencyKey } = message;
  return {
    kind: "oneWayCall",
    bytes,
    invocationIdCompletion: message.invocationIdCompletionId,
    startAt: Math.min(Number(message.invokeTime), TIME_MAX),
    request: {
      service: message.serviceName,
      handler: message.handlerName,
      key: message.key,
      headers: message.headers.map(({ key, value }) => [key, value]),
      value: message.parameter,
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      ...(scope !== undefined && { scope }),
      ...(limitKey !== undefined && { limitKey }),
    },
  };
}

/**
 * The reason why an SDK ended an attempt with an error (docs/spec/service-protocol.md#control-messages,
 * docs/spec/service-protocol.md#errors-of-an-sdk).
 */
export interface AttemptError {
  readonly kind: "error";
  readonly failure: Omit<AttemptFailure, "code">;
  /** Replaces the delay of the next retry. */
  readonly nextRetryDelayMs?: number;
  /** Since version 7; the reference accepts it in any version. Absent: retry. */
  readonly behavior?: "retry" | "pause" | "fail";
}

/** `Error` (docs/spec/service-protocol.md#control-messages). */
export function decodeError(bytes: Uint8Array): AttemptError {
  const message = readBody(ErrorSchema, bytes);
  const { stacktrace, nextRetryDelay } = message;
  const behavior = behaviorOf(message.behavior);
  const related = {
    ...(message.relatedCommandIndex !== undefined && { index: message.relatedCommandIndex }),
    ...(message.relatedCommandName !== undefined && { name: message.relatedCommandName }),
    ...(message.relatedCommandType !== undefined && { type: message.relatedCommandType }),
  };
  return {
    kind: "error",
    failure: {
      status: clampCode(message.code),
      message: message.message,
      ...(stacktrace !== "" && { stacktrace }),
      ...(Object.keys(related).length > 0 && { related }),
    },
    ...(nextRetryDelay !== undefined && {
      nextRetryDelayMs: Math.min(Number(nextRetryDelay), DELAY_MS_MAX),
    }),
    ...(behavior && { behavior }),
  };
}

/** Checks an `End`, which has no fields (docs/spec/service-protocol.md#control-messages). */
export function decodeEnd(bytes: Uint8Array): void {
  if (bytes.length > 0) readBody(EndSchema, bytes);
}

/** An unknown number is read as the default, like all unknown values of the protocol. */
function behaviorOf(value: number | undefined): "retry" | "pause" | "fail" | undefined {
  switch (value) {
    case undefined:
      return undefined;
    case Behavior.PAUSE:
      return "pause";
    case Behavior.FAIL:
      return "fail";
    default:
      return "retry";
  }
}

function text(bytes: Uint8Array): string {
  return readUtf8(bytes, 0, bytes.length);
}
