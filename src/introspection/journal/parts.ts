import type { HeaderPair, Result, TerminalFailure } from "../../model/journal.ts";
import type { Failure, Value } from "../../wire/gen/service_pb.ts";

/**
 * Pieces of an entry's JSON, spelled as the reference does (docs/spec/queries.md#journal-entries).
 */
export type Json = string | number | boolean | null | readonly Json[] | {
  readonly [name: string]: Json;
};

/** Bytes are lists of numbers. */
export function bytesJson(bytes: Uint8Array): readonly number[] {
  return Array.from(bytes);
}

export function headersJson(headers: readonly HeaderPair[]): Json {
  return headers.map(([name, value]) => ({ name, value }));
}

export function failureJson({ code, message, metadata }: TerminalFailure): Json {
  const pairs = metadata?.map(([key, value]) => ({ key, value }));
  return { code, message, ...(pairs && { metadata: pairs }) };
}

export function resultJson(result: Result): Json {
  return result.kind === "value"
    ? { Success: bytesJson(result.value) }
    : { Failure: failureJson(result.failure) };
}

/** What a generated message has as its result: a value, a failure, nothing, or no result at all. */
export interface ReadResult {
  readonly case: string | undefined;
  readonly value?: unknown;
}

/** A result of a command: with its bytes, or (`lite`) only how it ended. */
export function readResultJson(result: ReadResult, lite: boolean): Json {
  const name = result.case?.toLowerCase() ?? "";
  if (name.endsWith("value")) {
    return lite ? "Success" : { Success: bytesJson((result.value as Value).content) };
  }
  if (!name.endsWith("failure")) return "Void";
  if (lite) return "Failure";
  const { code, message, metadata } = result.value as Failure;
  const pairs = metadata.map(({ key, value }) => [key, value] as const);
  return { Failure: failureJson({ code, message, ...(pairs.length > 0 && { metadata: pairs }) }) };
}

const decoder = new TextDecoder();

export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
