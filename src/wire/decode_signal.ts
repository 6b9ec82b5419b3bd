import { parseAwakeableId } from "../model/awakeable.ts";
import type { Command, SignalId, SignalResult } from "../model/command.ts";
import { parseInvocationId } from "../model/id.ts";
import type { Result } from "../model/journal.ts";
import { Undecodable } from "./field_reader.ts";
import {
  type CompleteAwakeableCommand,
  CompleteAwakeableCommandSchema,
  type SendSignalCommand,
  SendSignalCommandSchema,
} from "./gen/service_pb.ts";
import { failureOf, readBody, valueOf } from "./generated_reader.ts";
import { readId } from "./id_field.ts";

// The commands that send a signal. `bytes` is the decoder's own copy of a body.

/**
 * `SendSignalCommand` (docs/spec/service-protocol.md#signals). Any u32 is an index: only
 * SDKs give the reserved ones a meaning. A target that is no invocation id is undecodable
 * (docs/spec/service-protocol.md#refused-commands).
 */
export function decodeSendSignal(bytes: Uint8Array): Command {
  const message = readBody(SendSignalCommandSchema, bytes);
  const id = signalIdOf(message.signalId);
  const result = signalResultOf(message.result);
  const target = message.targetInvocationId;
  readId(target, { what: "invocation id", parse: parseInvocationId, refuse });
  return { kind: "sendSignal", bytes, signal: { target, id, result } };
}

/**
 * `CompleteAwakeableCommand` (docs/spec/service-protocol.md#signals). There is no signal for an id
 * of the oldest protocols. Any other malformed id is undecodable
 * (docs/spec/service-protocol.md#refused-commands).
 */
export function decodeCompleteAwakeable(bytes: Uint8Array): Command {
  const message = readBody(CompleteAwakeableCommandSchema, bytes);
  const result = completionOf(message.result);
  const awakeable = readId(message.awakeableId, {
    what: "awakeable id",
    parse: parseAwakeableId,
    refuse,
  });
  if (!awakeable) return { kind: "completeAwakeable", bytes };
  const { target, index } = awakeable;
  return {
    kind: "completeAwakeable",
    bytes,
    signal: { target, id: { kind: "signal", index }, result },
  };
}

function signalIdOf(id: SendSignalCommand["signalId"]): SignalId {
  switch (id.case) {
    case "idx":
      return { kind: "signal", index: id.value };
    case "name":
      return { kind: "named", name: id.value };
    default:
      throw new Undecodable("it has neither index nor name");
  }
}

function signalResultOf(result: SendSignalCommand["result"]): SignalResult {
  switch (result.case) {
    case "void":
      return { kind: "void" };
    case "value":
      return valueOf(result.value);
    case "failure":
      return failureOf(result.value);
    default:
      throw new Undecodable("it has no result");
  }
}

function completionOf(result: CompleteAwakeableCommand["result"]): Result {
  switch (result.case) {
    case "value":
      return valueOf(result.value);
    case "failure":
      return failureOf(result.value);
    default:
      throw new Undecodable("it has neither value nor failure");
  }
}

function refuse(why: string): Undecodable {
  return new Undecodable(why);
}
