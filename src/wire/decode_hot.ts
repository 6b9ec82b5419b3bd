import type { Command } from "../model/command.ts";
import type { HeaderPair, TerminalFailure } from "../model/journal.ts";
import { FieldReader, fieldSet, lengthTag, numberTag, Undecodable } from "./field_reader.ts";
import { readFailure, readPair, readValue, resultOf } from "./result_reader.ts";

// The messages nearly every attempt sends, read by hand: about a quarter of the library's cost.
// `test/wire/decode_hot.test.ts` compares them with the generated code, message by message.
//
// `bytes` is always the decoder's own copy of a body, so views of it may be kept.

const NAME = lengthTag(12);

const OUTPUT_VALUE = lengthTag(14);
const OUTPUT_FAILURE = lengthTag(15);
const OUTPUT_FIELDS = fieldSet(12, 14, 15);

/** `OutputCommand` (docs/spec/service-protocol.md#commands). */
export function decodeOutput(bytes: Uint8Array): Command {
  const reader = new FieldReader(bytes);
  let value: Uint8Array | undefined;
  let failure: TerminalFailure | undefined;
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === OUTPUT_VALUE) {
      value = readValue(reader, value);
      failure = undefined;
    } else if (tag === OUTPUT_FAILURE) {
      failure = readFailure(reader, failure);
      value = undefined;
    } else if (tag === NAME) reader.checkString();
    else reader.skip(tag, OUTPUT_FIELDS);
  }
  return { kind: "output", bytes, result: resultOf(value, failure) };
}

const RUN_COMPLETION = numberTag(1);
const RUN_COMPLETION_VALUE = lengthTag(14);
const RUN_COMPLETION_FAILURE = lengthTag(15);
const RUN_COMPLETION_FIELDS = fieldSet(1, 14, 15);

/**
 * `ProposeRunCompletion`, whose value is bytes and no `Value`
 * (docs/spec/service-protocol.md#control-messages). `wantsAck`: the SDK accepts an acknowledgement
 * instead of the result (docs/spec/service-protocol.md#runs).
 */
export function decodeProposeRunCompletion(bytes: Uint8Array, wantsAck: boolean): Command {
  const reader = new FieldReader(bytes);
  let completion = 0;
  let value: Uint8Array | undefined;
  let failure: TerminalFailure | undefined;
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === RUN_COMPLETION) completion = reader.uint32();
    else if (tag === RUN_COMPLETION_VALUE) {
      value = reader.bytes();
      failure = undefined;
    } else if (tag === RUN_COMPLETION_FAILURE) {
      failure = readFailure(reader, failure);
      value = undefined;
    } else reader.skip(tag, RUN_COMPLETION_FIELDS);
  }
  const result = resultOf(value, failure);
  return wantsAck
    ? { kind: "runCompletion", completion, result, wantsAck }
    : { kind: "runCompletion", completion, result };
}

const RESULT_COMPLETION = numberTag(11);
const RUN_FIELDS = fieldSet(11, 12);

/** `RunCommand` (docs/spec/service-protocol.md#commands). */
export function decodeRun(bytes: Uint8Array): Command {
  const reader = new FieldReader(bytes);
  let completion = 0;
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === RESULT_COMPLETION) completion = reader.uint32();
    else if (tag === NAME) reader.checkString();
    else reader.skip(tag, RUN_FIELDS);
  }
  return { kind: "run", bytes, completion };
}

const STATE_KEY = lengthTag(1);
const EAGER_VOID = lengthTag(13);
const EAGER_VALUE = lengthTag(14);
const EAGER_FIELDS = fieldSet(1, 12, 13, 14);

/**
 * `GetEagerStateCommand`: a record of a read, checked and kept
 * (docs/spec/service-protocol.md#state).
 */
export function decodeGetEagerState(bytes: Uint8Array): Command {
  const reader = new FieldReader(bytes);
  let known = false;
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === STATE_KEY || tag === NAME) reader.checkString();
    else if (tag === EAGER_VALUE) {
      readValue(reader, undefined);
      known = true;
    } else if (tag === EAGER_VOID) {
      const outer = reader.enter();
      reader.skipAll();
      reader.leave(outer);
      known = true;
    } else reader.skip(tag, EAGER_FIELDS);
  }
  if (!known) throw new Undecodable("it has neither void nor value");
  return { kind: "getEagerState", bytes };
}

const SET_VALUE = lengthTag(3);
const SET_FIELDS = fieldSet(1, 3, 12);

/** `SetStateCommand` (docs/spec/service-protocol.md#commands). */
export function decodeSetState(bytes: Uint8Array): Command {
  const reader = new FieldReader(bytes);
  let key = "";
  let value: Uint8Array | undefined;
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === STATE_KEY) key = reader.string();
    else if (tag === SET_VALUE) value = readValue(reader, value);
    else if (tag === NAME) reader.checkString();
    else reader.skip(tag, SET_FIELDS);
  }
  if (!value) throw new Undecodable("it has no value");
  return { kind: "setState", bytes, key, value };
}

const CALL_SERVICE = lengthTag(1);
const CALL_HANDLER = lengthTag(2);
const CALL_PARAMETER = lengthTag(3);
const CALL_HEADER = lengthTag(4);
const CALL_KEY = lengthTag(5);
const CALL_IDEMPOTENCY = lengthTag(6);
const CALL_SCOPE = lengthTag(7);
const CALL_LIMIT = lengthTag(8);
const CALL_ID_COMPLETION = numberTag(10);
const CALL_FIELDS = fieldSet(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12);
const NOTHING = new Uint8Array();

/**
 * `CallCommand` (docs/spec/service-protocol.md#commands). A scope or a limit key is read in every
 * version, as in the reference; the engine checks it.
 */
export function decodeCall(bytes: Uint8Array): Command {
  const reader = new FieldReader(bytes);
  const headers: HeaderPair[] = [];
  let [service, handler, key] = ["", "", ""];
  let value: Uint8Array = NOTHING;
  let [invocationIdCompletion, completion] = [0, 0];
  let [idempotencyKey, scope, limitKey]: (string | undefined)[] = [];
  for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
    if (tag === CALL_SERVICE) service = reader.string();
    else if (tag === CALL_HANDLER) handler = reader.string();
    else if (tag === CALL_PARAMETER) value = reader.bytes();
    else if (tag === CALL_HEADER) headers.push(readPair(reader));
    else if (tag === CALL_KEY) key = reader.string();
    else if (tag === CALL_IDEMPOTENCY) idempotencyKey = reader.string();
    else if (tag === CALL_ID_COMPLETION) invocationIdCompletion = reader.uint32();
    else if (tag === RESULT_COMPLETION) completion = reader.uint32();
    else if (tag === NAME) reader.checkString();
    else if (tag === CALL_SCOPE) scope = reader.string();
    else if (tag === CALL_LIMIT) limitKey = reader.string();
    else reader.skip(tag, CALL_FIELDS);
  }
  const request = {
    service,
    handler,
    key,
    headers,
    value,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(scope !== undefined && { scope }),
    ...(limitKey !== undefined && { limitKey }),
  };
  return { kind: "call", bytes, invocationIdCompletion, completion, request };
}
