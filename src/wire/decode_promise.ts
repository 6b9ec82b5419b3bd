import type { Command } from "../model/command.ts";
import type { Result } from "../model/journal.ts";
import { Undecodable } from "./field_reader.ts";
import {
  type CompletePromiseCommand,
  CompletePromiseCommandSchema,
  GetPromiseCommandSchema,
  PeekPromiseCommandSchema,
} from "./gen/service_pb.ts";
import { failureOf, readBody, valueOf } from "./generated_reader.ts";

// The commands on durable promises. `bytes` is the decoder's own copy of a body.

/** `GetPromiseCommand` (docs/spec/service-protocol.md#promises). */
export function decodeGetPromise(bytes: Uint8Array): Command {
  const { key, resultCompletionId } = readBody(GetPromiseCommandSchema, bytes);
  return { kind: "getPromise", bytes, key, completion: resultCompletionId };
}

/** `PeekPromiseCommand` (docs/spec/service-protocol.md#promises). */
export function decodePeekPromise(bytes: Uint8Array): Command {
  const { key, resultCompletionId } = readBody(PeekPromiseCommandSchema, bytes);
  return { kind: "peekPromise", bytes, key, completion: resultCompletionId };
}

/** `CompletePromiseCommand` (docs/spec/service-protocol.md#promises). */
export function decodeCompletePromise(bytes: Uint8Array): Command {
  const { key, completion, resultCompletionId } = readBody(CompletePromiseCommandSchema, bytes);
  const result = resultOf(completion);
  return { kind: "completePromise", bytes, key, result, completion: resultCompletionId };
}

function resultOf(completion: CompletePromiseCommand["completion"]): Result {
  switch (completion.case) {
    case "completionValue":
      return valueOf(completion.value);
    case "completionFailure":
      return failureOf(completion.value);
    default:
      throw new Undecodable("it has neither value nor failure");
  }
}
