import type { HeaderPair, Result, TerminalFailure } from "../model/journal.ts";
import { type FieldReader, fieldSet, lengthTag, numberTag, Undecodable } from "./field_reader.ts";

/**
 * Codes are HTTP-like; anything beyond 16 bits is read as this
 * (docs/spec/service-protocol.md#values).
 */
const CODE_MAX = 0xffff;
const CODE_FALLBACK = 500;
const EMPTY = new Uint8Array();

const CONTENT = lengthTag(1);
const VALUE_FIELDS = fieldSet(1);

const CODE = numberTag(1);
const MESSAGE = lengthTag(2);
const METADATA = lengthTag(3);
const FAILURE_FIELDS = fieldSet(1, 2, 3);

const KEY = lengthTag(1);
const PAIR_VALUE = lengthTag(2);
const PAIR_FIELDS = fieldSet(1, 2);

/** The code of a failure, in 0 … 65535 (docs/spec/service-protocol.md#values). */
export function clampCode(code: number): number {
  return code > CODE_MAX ? CODE_FALLBACK : code;
}

/** The content of a `Value`. A message that comes twice is merged: `before` is the earlier one. */
export function readValue(reader: FieldReader, before: Uint8Array | undefined): Uint8Array {
  let content = before ?? EMPTY;
  const outer = reader.enter();
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === CONTENT) content = reader.bytes();
    else reader.skip(tag, VALUE_FIELDS);
  }
  reader.leave(outer);
  return content;
}

/** A `Failure`, merged into `before` when it comes twice. */
export function readFailure(
  reader: FieldReader,
  before: TerminalFailure | undefined,
): TerminalFailure {
  let code = before?.code ?? 0;
  let message = before?.message ?? "";
  const metadata = [...before?.metadata ?? []];
  const outer = reader.enter();
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === CODE) code = clampCode(reader.uint32());
    else if (tag === MESSAGE) message = reader.string();
    else if (tag === METADATA) metadata.push(readPair(reader));
    else reader.skip(tag, FAILURE_FIELDS);
  }
  reader.leave(outer);
  return metadata.length > 0 ? { code, message, metadata } : { code, message };
}

/** A `Header` or `FailureMetadata`. */
export function readPair(reader: FieldReader): HeaderPair {
  let key = "";
  let value = "";
  const outer = reader.enter();
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === KEY) key = reader.string();
    else if (tag === PAIR_VALUE) value = reader.string();
    else reader.skip(tag, PAIR_FIELDS);
  }
  reader.leave(outer);
  return [key, value];
}

/** The one of the two that is there. Throws `Undecodable` when neither is. */
export function resultOf(
  value: Uint8Array | undefined,
  failure: TerminalFailure | undefined,
): Result {
  if (value) return { kind: "value", value };
  if (failure) return { kind: "failure", failure };
  throw new Undecodable("it has neither value nor failure");
}
