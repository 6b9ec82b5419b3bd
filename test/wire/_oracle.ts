import { fromBinary } from "@bufbuild/protobuf";
import type { Command } from "../../src/model/command.ts";
import type { Awaiting } from "../../src/model/invocation.ts";
import type { HeaderPair, Result } from "../../src/model/journal.ts";
import * as pb from "../../src/wire/gen/service_pb.ts";

// What the hand-written decoders must say, told by the generated code. Each throws what it cannot
// read, and for a result that is missing.

const text = (bytes: Uint8Array) =>
  new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);

function pairs(list: readonly { readonly key: string; readonly value: string }[]): HeaderPair[] {
  return list.map(({ key, value }) => [key, value]);
}

function failed({ code, message, metadata }: pb.Failure): Result {
  const pair = pairs(metadata);
  const clamped = code > 65535 ? 500 : code;
  const more = pair.length > 0 ? { metadata: pair } : {};
  return { kind: "failure", failure: { code: clamped, message, ...more } };
}

function missing(): never {
  throw new Error("no result");
}

export const oracle: Readonly<Record<number, (bytes: Uint8Array) => Command>> = {
  0x0401: (bytes) => {
    const { result } = fromBinary(pb.OutputCommandSchema, bytes);
    if (result.case === "failure") return { kind: "output", bytes, result: failed(result.value) };
    const value = result.value?.content ?? missing();
    return { kind: "output", bytes, result: { kind: "value", value } };
  },
  0x0005: (bytes) => {
    const { result, resultCompletionId } = fromBinary(pb.ProposeRunCompletionSchema, bytes);
    const completion = resultCompletionId;
    if (result.case === "failure") {
      return { kind: "runCompletion", completion, result: failed(result.value) };
    }
    return {
      kind: "runCompletion",
      completion,
      result: { kind: "value", value: result.value ?? missing() },
    };
  },
  0x0411: (bytes) => {
    const { resultCompletionId } = fromBinary(pb.RunCommandSchema, bytes);
    return { kind: "run", bytes, completion: resultCompletionId };
  },
  0x0407: (bytes) => {
    const { key, result } = fromBinary(pb.GetEagerStateCommandSchema, bytes);
    text(key);
    if (!result.case) missing();
    return { kind: "getEagerState", bytes };
  },
  0x0403: (bytes) => {
    const { key, value } = fromBinary(pb.SetStateCommandSchema, bytes);
    return { kind: "setState", bytes, key: text(key), value: (value ?? missing()).content };
  },
  0x040d: (bytes) => {
    const message = fromBinary(pb.CallCommandSchema, bytes);
    const { idempotencyKey, scope, limitKey } = message;
    return {
      kind: "call",
      bytes,
      invocationIdCompletion: message.invocationIdCompletionId,
      completion: message.resultCompletionId,
      request: {
        service: message.serviceName,
        handler: message.handlerName,
        key: message.key,
        headers: pairs(message.headers),
        value: message.parameter,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        ...(scope !== undefined && { scope }),
        ...(limitKey !== undefined && { limitKey }),
      },
    };
  },
};

const kinds = ["unknown", "first", "allCompleted", "any", "all"] as const;

/** The tree as it came, empty combinators included. */
export function treeOf(future: pb.Future): Awaiting {
  return {
    kind: kinds[future.combinatorType] ?? "unknown",
    completions: future.waitingCompletions,
    signals: future.waitingSignals,
    names: future.waitingNamedSignals,
    ...(future.nestedFutures.length > 0 && { nested: future.nestedFutures.map(treeOf) }),
  };
}

/** Whether a combinator in this tree, or the tree itself, awaits nothing. */
export function hasEmptyOnes({ completions, signals, names, nested = [] }: Awaiting): boolean {
  if (completions.length + signals.length + names.length + nested.length === 0) return true;
  return nested.some(hasEmptyOnes);
}

export function suspensionOracle(bytes: Uint8Array, version: number): Awaiting {
  if (version >= 7) {
    return treeOf(fromBinary(pb.SuspensionV7Schema, bytes).awaitingOn ?? missing());
  }
  const message = fromBinary(pb.SuspensionSchema, bytes);
  return {
    kind: "unknown",
    completions: message.waitingCompletions,
    signals: message.waitingSignals,
    names: message.waitingNamedSignals,
  };
}
