import { Bug } from "../assert.ts";
import { Failure } from "../errors.ts";
import type { Command } from "../model/command.ts";
import type { Awaiting } from "../model/invocation.ts";
import { entryType } from "../model/journal.ts";
import { decodeAwaitingOn, type DecodeLimits, decodeSuspension } from "./decode_awaiting.ts";
import * as hot from "./decode_hot.ts";
import * as promise from "./decode_promise.ts";
import * as rest from "./decode_rest.ts";
import * as signal from "./decode_signal.ts";
import * as subject from "./decode_subject.ts";
import { REQUESTED_ACK } from "./frame.ts";
import { controlType, isMessageType, printMessageType } from "./message_type.ts";

/** A message of an SDK, decoded. */
export type Message =
  | {
    readonly kind: "command";
    readonly command: Command;
    /**
     * The sender requests an acknowledgement when it is stored
     * (docs/spec/service-protocol.md#frames). Absent: no.
     */
    readonly wantsAck?: boolean;
  }
  | { readonly kind: "suspension"; readonly awaiting: Awaiting }
  | rest.AttemptError
  | { readonly kind: "end" }
  /** The futures on which the handler is blocked, for information only. Since version 7. */
  | { readonly kind: "awaitingOn" };

/** Limits of the reference server (docs/spec/service-protocol.md#frames). */
const DEFAULT_LIMITS: DecodeLimits = { futureDepthMax: 1000 };

/**
 * Reads one message from an SDK. `type` and `flags`: u16 of the frame. `body`: may be a view of a
 * network chunk: kept parts are copied. `version`: the protocol version of the attempt.
 *
 * Any bytes give a message or throw a `Failure`: RT0012 for a violation of the protocol
 * (docs/spec/service-protocol.md#message-types), RT0017 for an invocation that cannot exist
 * (docs/spec/service-protocol.md#refused-commands), RT0025 for futures nested too deep.
 */
export function decodeMessage(
  type: number,
  flags: number,
  body: Uint8Array,
  version: number,
  limits: DecodeLimits = DEFAULT_LIMITS,
): Message {
  try {
    const control = decodeControl(type, body, version, limits);
    if (control) return control;
    const command = decodeCommand(type, flags, copyOf(body), version);
    const wantsAck = (flags & REQUESTED_ACK) !== 0 && command.kind !== "runCompletion";
    return wantsAck ? { kind: "command", command, wantsAck } : { kind: "command", command };
  } catch (cause) {
    if (cause instanceof Failure || cause instanceof Bug) throw cause;
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new Failure("RT0012", `Cannot decode ${printMessageType(type)}: ${detail}`, { cause });
  }
}

const END = { kind: "end" } as const;
const AWAITING_ON = { kind: "awaitingOn" } as const;

/** Undefined: the message is a command. */
function decodeControl(
  type: number,
  body: Uint8Array,
  version: number,
  limits: DecodeLimits,
): Message | undefined {
  switch (type) {
    case controlType.suspension:
      return { kind: "suspension", awaiting: decodeSuspension(body, version, limits) };
    case controlType.error:
      return rest.decodeError(body);
    case controlType.end:
      rest.decodeEnd(body);
      return END;
    case controlType.awaitingOn:
      decodeAwaitingOn(body, limits);
      return AWAITING_ON;
    default:
      return undefined;
  }
}

/** A new command is a new case here or below, its reader, and a member of `Command`. */
function decodeCommand(type: number, flags: number, bytes: Uint8Array, version: number): Command {
  if (type === controlType.proposeRunCompletion) {
    // Before version 7 the flag has no meaning here, like unused flags
    // (docs/spec/service-protocol.md#versions).
    const wantsAck = version >= 7 && (flags & REQUESTED_ACK) !== 0;
    return hot.decodeProposeRunCompletion(bytes, wantsAck);
  }
  switch (type) {
    case entryType.output:
      return hot.decodeOutput(bytes);
    case entryType.run:
      return hot.decodeRun(bytes);
    case entryType.getEagerState:
      return hot.decodeGetEagerState(bytes);
    case entryType.setState:
      return hot.decodeSetState(bytes);
    case entryType.call:
      return hot.decodeCall(bytes);
    case entryType.oneWayCall:
      return rest.decodeOneWayCall(bytes);
    case entryType.sleep:
      return rest.decodeSleep(bytes);
    case entryType.getLazyState:
      return rest.decodeGetLazyState(bytes);
    case entryType.getLazyStateKeys:
      return rest.decodeGetLazyStateKeys(bytes);
    case entryType.getEagerStateKeys:
      return rest.decodeGetEagerStateKeys(bytes);
    case entryType.clearState:
      return rest.decodeClearState(bytes);
    case entryType.clearAllState:
      return rest.decodeClearAllState(bytes);
    default:
      return decodeRareCommand(type, bytes);
  }
}

/** The commands on promises, signals and other invocations. */
function decodeRareCommand(type: number, bytes: Uint8Array): Command {
  switch (type) {
    case entryType.getPromise:
      return promise.decodeGetPromise(bytes);
    case entryType.peekPromise:
      return promise.decodePeekPromise(bytes);
    case entryType.completePromise:
      return promise.decodeCompletePromise(bytes);
    case entryType.sendSignal:
      return signal.decodeSendSignal(bytes);
    case entryType.completeAwakeable:
      return signal.decodeCompleteAwakeable(bytes);
    case entryType.attach:
      return subject.decodeAttach(bytes);
    case entryType.getOutput:
      return subject.decodeGetOutput(bytes);
    default:
      throw refused(type, isMessageType(type) ? "may only come from the server" : "is unknown");
  }
}

function refused(type: number, why: string): Failure {
  return new Failure("RT0012", `Unexpected ${printMessageType(type)}: it ${why}`);
}

/** Up to this size a loop is cheaper than the platform's copy function. */
const LOOP_BYTES_MAX = 32;

/** From this size on a copy costs more than it does to find out that there is no need of it. */
const OWN_BYTES_MIN = 4 * 1024;

/**
 * Copies a body. A large one that fills its buffer is returned as it is: it is no view of a chunk, which
 * would begin with the head of the frame, but was collected by `FrameReader`, and copying 30 MB would
 * block the loop. Not by `slice`: a chunk may be a platform's own kind of array, whose `slice` shares
 * memory.
 */
function copyOf(body: Uint8Array): Uint8Array {
  if (body.length >= OWN_BYTES_MIN && body.buffer.byteLength === body.length) return body;
  const bytes = new Uint8Array(body.length);
  if (body.length > LOOP_BYTES_MAX) bytes.set(body);
  else for (let i = 0; i < body.length; i++) bytes[i] = body[i]!;
  return bytes;
}
