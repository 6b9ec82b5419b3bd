import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import type { Result, TerminalFailure } from "../model/journal.ts";
import type { Failure, Value } from "./gen/service_pb.ts";
import { clampCode } from "./result_reader.ts";

// Bodies read by the generated code. What is read may be views of `bytes`.

/** The fields of a body. Unknown ones are passed over. Throws the library's errors. */
export function readBody<T extends DescMessage>(schema: T, bytes: Uint8Array): MessageShape<T> {
  return fromBinary(schema, bytes, { readUnknownFields: false });
}

/** The result in a `Value` (docs/spec/service-protocol.md#values). */
export function valueOf({ content }: Value): Result {
  return { kind: "value", value: content };
}

/** The result in a `Failure`, its code within 16 bits (docs/spec/service-protocol.md#values). */
export function failureOf({ code, message, metadata }: Failure): Result {
  const failure: TerminalFailure = { code: clampCode(code), message };
  if (metadata.length === 0) return { kind: "failure", failure };
  const pairs = metadata.map((pair) => [pair.key, pair.value] as const);
  return { kind: "failure", failure: { ...failure, metadata: pairs } };
}
