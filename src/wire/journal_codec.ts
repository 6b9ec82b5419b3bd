import { assert, unreachable } from "../assert.ts";
import {
  type Entry,
  entryType,
  type HeaderPair,
  type NotificationId,
  type NotificationResult,
  type TerminalFailure,
} from "../model/journal.ts";
import { encodeFrame } from "./frame.ts";
import { copiedBytes, FrameWriter } from "./frame_writer.ts";
import { controlType } from "./message_type.ts";

/** The first message of an attempt (docs/spec/service-protocol.md#control-messages). */
export interface Start {
  /** `inv_1…`, and the 24 bytes behind it. */
  readonly id: string;
  readonly idBytes: Uint8Array;
  /** Eager state; absent or empty: none. */
  readonly state?: readonly { readonly name: string; readonly value: Uint8Array }[];
  /** Whether the service may have state that is not in `state`. True for plain services. */
  readonly partialState: boolean;
  /** Object key or workflow id; the empty string for plain services. */
  readonly key: string;
  /**
   * Failed attempts since the last command was stored
   * (docs/spec/service-protocol.md#failures-since-the-last-command).
   */
  readonly retryCount: number;
  /** Milliseconds since the invocation was last changed, not negative. */
  readonly sinceLastEntryMs: number;
  /**
   * 8 bytes, read as a big endian u64: the same for every attempt of an invocation
   * (docs/spec/service-protocol.md#random-seed).
   */
  readonly randomSeed: Uint8Array;
  /** The scope, limit key and idempotency key of the invocation, since version 7. Absent: none. */
  readonly scope?: string | undefined;
  readonly limitKey?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** The `Start` frame ahead of `knownEntries` frames of replay (at least one: the input). */
export function encodeStart(start: Start, knownEntries: number): Uint8Array {
  const writer = new FrameWriter();
  writeStart(writer, start, knownEntries);
  return writer.finishOne();
}

/** One entry as a frame: for the replay, or to notify a running attempt. */
export function encodeEntry(entry: Entry): Uint8Array {
  if (entry.kind === "command") return encodeFrame(entry.type, entry.bytes);
  const writer = new FrameWriter();
  writeEntry(writer, entry);
  return writer.finishOne();
}

/**
 * `CommandAck` (docs/spec/service-protocol.md#control-messages): the command of this index, a u32,
 * is stored.
 */
export function encodeCommandAck(index: number): Uint8Array {
  return encodeAck(controlType.commandAck, index);
}

/**
 * `ProposeRunCompletionAck` of version 7 (docs/spec/service-protocol.md#runs): the result of this
 * run, a u32, is stored. Takes the place of the run's notification in an attempt that proposed it
 * and wants it so.
 */
export function encodeRunAck(completion: number): Uint8Array {
  return encodeAck(controlType.proposeRunCompletionAck, completion);
}

/** A default is absent (docs/spec/service-protocol.md#encoding). */
function encodeAck(type: number, number: number): Uint8Array {
  const writer = new FrameWriter();
  const frame = writer.beginFrame(type);
  if (number !== 0) writer.number(1, number);
  writer.endFrame(frame);
  return writer.finishOne();
}

/**
 * All that an attempt is sent at its beginning: `Start` and the whole journal, in order
 * (docs/spec/service-protocol.md#start-of-an-attempt). Small journals become one piece. Large
 * commands and values are pieces of their own, shared with `entries` and the state: the pieces are to be
 * written, never changed.
 */
export function encodeReplay(start: Start, entries: readonly Entry[]): Uint8Array[] {
  const writer = new FrameWriter();
  writeStart(writer, start, entries.length);
  for (const entry of entries) writeEntry(writer, entry);
  return writer.finish();
}

/**
 * Fields that hold their default are absent, as SDKs expect it
 * (docs/spec/service-protocol.md#encoding).
 */
function writeStart(writer: FrameWriter, start: Start, knownEntries: number): void {
  const { id, idBytes, state, key, retryCount, randomSeed } = start;
  assert(knownEntries > 0, "An attempt must be told its input");
  assert(randomSeed.length === 8, "A random seed must have 8 bytes");
  const frame = writer.beginFrame(controlType.start);
  writer.bytes(1, idBytes);
  writer.text(2, id);
  writer.number(3, knownEntries);
  if (state) writer.reserve(stateRoom(state));
  for (const { name, value } of state ?? []) {
    const expected = pairSize(name.length, value.length);
    const message = writer.open(4, expected);
    if (name !== "") writer.text(1, name);
    if (value.length > 0) writer.bytes(2, value);
    writer.close(message, expected);
  }
  if (start.partialState) writer.number(5, 1);
  if (key !== "") writer.text(6, key);
  if (retryCount > 0) writer.number(7, retryCount);
  const since = Math.max(0, Math.floor(start.sinceLastEntryMs));
  if (since > 0) writer.long(8, Math.floor(since / 2 ** 32), since >>> 0);
  const [high, low] = [u32(randomSeed, 0), u32(randomSeed, 4)];
  if (high !== 0 || low !== 0) writer.long(9, high, low);
  if (start.scope !== undefined) writer.text(10, start.scope);
  if (start.limitKey !== undefined) writer.text(11, start.limitKey);
  if (start.idempotencyKey !== undefined) writer.text(12, start.idempotencyKey);
  writer.endFrame(frame);
}

/** Bytes for the fields behind the state: ids and keys, which are rarely longer together. */
const LATER_FIELDS_BYTES = 4096;
/** A pair is three fields, and the head of a field is one byte and a length of at most five. */
const PAIR_HEADS_BYTES = 18;
const UTF8_BYTES_MAX = 3;

/** Room for the state and what comes behind it. With less the writer grows, with more memory is wasted. */
function stateRoom(state: NonNullable<Start["state"]>): number {
  let bytes = LATER_FIELDS_BYTES;
  for (const { name, value } of state) {
    bytes += PAIR_HEADS_BYTES + UTF8_BYTES_MAX * name.length + copiedBytes(value);
  }
  return bytes;
}

function writeEntry(writer: FrameWriter, entry: Entry): void {
  switch (entry.kind) {
    case "input":
      return writeInput(writer, entry.headers, entry.value);
    case "command":
      return writer.frame(entry.type, entry.bytes);
    case "notification": {
      const frame = writer.beginFrame(entry.type);
      writeId(writer, entry.id);
      writeResult(writer, entry.result);
      return writer.endFrame(frame);
    }
    default:
      unreachable(entry);
  }
}

/**
 * `InputCommand` (docs/spec/service-protocol.md#commands). Its value is present even when it is
 * empty (docs/spec/service-protocol.md#encoding).
 */
function writeInput(writer: FrameWriter, headers: readonly HeaderPair[], value: Uint8Array): void {
  const frame = writer.beginFrame(entryType.input);
  for (const header of headers) writePair(writer, 1, header);
  writer.wrapped(14, value);
  writer.endFrame(frame);
}

/** A oneof: present even when it is 0 or empty (docs/spec/service-protocol.md#notifications). */
function writeId(writer: FrameWriter, id: NotificationId): void {
  switch (id.kind) {
    case "completion":
      return writer.number(1, id.id);
    case "signal":
      return writer.number(2, id.index);
    case "named":
      return writer.text(3, id.name);
    default:
      unreachable(id);
  }
}

/** A oneof, like the id (docs/spec/service-protocol.md#notifications). */
function writeResult(writer: FrameWriter, result: NotificationResult): void {
  switch (result.kind) {
    case "void":
      return writer.bytes(4, NOTHING);
    case "value":
      return writer.wrapped(5, result.value);
    case "failure":
      return writeFailure(writer, 6, result.failure);
    case "invocationId":
      return writer.text(16, result.id);
    case "stateKeys": {
      const message = writer.open(17, 0);
      for (const key of result.keys) writer.text(1, key);
      return writer.close(message, 0);
    }
    default:
      unreachable(result);
  }
}

/**
 * A stack trace is for people, and no part of the protocol (docs/spec/service-protocol.md#values).
 */
function writeFailure(writer: FrameWriter, field: number, failure: TerminalFailure): void {
  const { code, message, metadata } = failure;
  const expected = message.length + 8;
  const start = writer.open(field, expected);
  if (code !== 0) writer.number(1, code);
  if (message !== "") writer.text(2, message);
  for (const pair of metadata ?? []) writePair(writer, 3, pair);
  writer.close(start, expected);
}

/** A `Header` or `FailureMetadata`: absent parts are empty. */
function writePair(writer: FrameWriter, field: number, [name, value]: HeaderPair): void {
  const expected = pairSize(name.length, value.length);
  const message = writer.open(field, expected);
  if (name !== "") writer.text(1, name);
  if (value !== "") writer.text(2, value);
  writer.close(message, expected);
}

const NOTHING = new Uint8Array();

/** About the size of two fields in one message; never far off. */
function pairSize(first: number, second: number): number {
  return first + second + 4;
}

/** A big endian u32. */
function u32(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at, at + 4);
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}
