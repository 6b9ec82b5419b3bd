import { concatBytes } from "../bytes.ts";
import { FRAME_HEAD_BYTES, writeFrameHead } from "./frame.ts";
import { writeUtf8 } from "../utf8.ts";

const SCRATCH_BYTES = 64 * 1024;
/** Bytes of this size and above are shared: copying them costs more than a write of their own. */
const SHARED_BYTES_MIN = 8 * 1024;
const VARINT_BYTES_MAX = 10;
const LENGTH_DELIMITED = 2;

interface Shared {
  /** Where among the own bytes of the writer these belong. */
  at: number;
  readonly bytes: Uint8Array;
}

const NONE: readonly Shared[] = [];

/** Kept between messages: a fresh buffer for each would cost more than all of its bytes. */
const scratch = new Uint8Array(SCRATCH_BYTES);

/**
 * Builds frames one after the other. Fields are written in the order of the calls, all of them:
 * the caller omits defaults. Large bytes are shared, not copied: never change them. Use one writer at a
 * time: they share a buffer.
 */
export class FrameWriter {
  #bytes = scratch;
  #at = 0;
  /** Bytes that are not copied, in their order. */
  readonly #shared: Shared[] = [];

  /** Starts a frame. Returns its start, for `endFrame`. */
  beginFrame(type: number): number {
    const start = this.#at;
    this.#room(FRAME_HEAD_BYTES);
    writeFrameHead(this.#bytes, start, { type, flags: 0, length: 0 });
    this.#at += FRAME_HEAD_BYTES;
    return start;
  }

  /** Fills in the length of the frame that began at `start`. */
  endFrame(start: number): void {
    const length = this.#lengthFrom(start + FRAME_HEAD_BYTES);
    this.#bytes[start + 4] = length >>> 24;
    this.#bytes[start + 5] = length >>> 16;
    this.#bytes[start + 6] = length >>> 8;
    this.#bytes[start + 7] = length;
  }

  /**
   * Makes room for so many more bytes at once. Without it the buffer doubles again and again, which
   * copies all of them each time.
   */
  reserve(bytes: number): void {
    this.#room(bytes, 0);
  }

  /** A frame whose body exists already. */
  frame(type: number, body: Uint8Array): void {
    this.#room(FRAME_HEAD_BYTES);
    writeFrameHead(this.#bytes, this.#at, { type, flags: 0, length: body.length });
    this.#at += FRAME_HEAD_BYTES;
    this.#add(body);
  }

  /** A number below 2^32. */
  number(field: number, value: number): void {
    this.#room(2 * VARINT_BYTES_MAX);
    this.#varint(field << 3);
    this.#varint(value);
  }

  /** A number of 64 bits, in two halves of 32. */
  long(field: number, high: number, low: number): void {
    if (high === 0) return this.number(field, low);
    this.#room(2 * VARINT_BYTES_MAX);
    this.#varint(field << 3);
    for (let i = 0; i < 4; i++) this.#bytes[this.#at++] = (low >>> (7 * i)) & 0x7f | 0x80;
    // The fifth byte holds the last four bits of one half and the first three of the other.
    const middle = (low >>> 28) | ((high & 7) << 4);
    const rest = high >>> 3;
    this.#bytes[this.#at++] = rest === 0 ? middle : middle | 0x80;
    if (rest !== 0) this.#varint(rest);
  }

  bytes(field: number, value: Uint8Array): void {
    this.#head(field, value.length);
    this.#add(value);
  }

  /** Text, or bytes that are a text. */
  text(field: number, value: string): void {
    const most = 3 * value.length;
    this.#room(2 * VARINT_BYTES_MAX + most);
    const start = this.open(field, value.length);
    this.#at = writeUtf8(this.#bytes, this.#at, value);
    this.close(start, value.length);
  }

  /** A message whose only field is field 1, of these bytes: `Value`. */
  wrapped(field: number, value: Uint8Array): void {
    // A default is absent: an empty value is an empty message.
    if (value.length === 0) return this.#head(field, 0);
    this.#head(field, 1 + varintSize(value.length) + value.length);
    this.bytes(1, value);
  }

  /**
   * Starts a field that is a message. `expected`: its size, as good as one knows; a right guess
   * saves moving it. Hand both to `close`.
   */
  open(field: number, expected: number): number {
    this.#room(2 * VARINT_BYTES_MAX);
    this.#varint((field << 3) | LENGTH_DELIMITED);
    this.#at += varintSize(expected);
    return this.#at;
  }

  /** Fills in the length of the message that `open` began. */
  close(start: number, expected: number): void {
    const length = this.#lengthFrom(start);
    const shift = varintSize(length) - varintSize(expected);
    if (shift !== 0) {
      this.#room(VARINT_BYTES_MAX);
      this.#bytes.copyWithin(start + shift, start, this.#at);
      for (const shared of this.#sharedFrom(start)) shared.at += shift;
    }
    const end = this.#at + shift;
    this.#at = start - varintSize(expected);
    this.#varint(length);
    this.#at = end;
  }

  /** Everything written, as one piece unless bytes are shared. The writer is of no use afterwards. */
  finish(): Uint8Array[] {
    const isScratch = this.#bytes === scratch;
    const own = isScratch ? scratch.slice(0, this.#at) : this.#bytes.subarray(0, this.#at);
    if (this.#shared.length === 0) return [own];
    const pieces: Uint8Array[] = [];
    let from = 0;
    for (const { at, bytes } of this.#shared) {
      if (at > from) pieces.push(own.subarray(from, at));
      pieces.push(bytes);
      from = at;
    }
    if (own.length > from) pieces.push(own.subarray(from));
    return pieces;
  }

  /** Everything written, as one piece, for which shared bytes are copied. */
  finishOne(): Uint8Array {
    const pieces = this.finish();
    return pieces.length === 1 ? pieces[0]! : concatBytes(pieces);
  }

  /** How many bytes follow the place `start` among the own ones, with those that are shared. */
  #lengthFrom(start: number): number {
    let length = this.#at - start;
    for (const { bytes } of this.#sharedFrom(start)) length += bytes.length;
    return length;
  }

  /** What is shared behind a place. Most of it is before: a large state has thousands of values. */
  #sharedFrom(start: number): readonly Shared[] {
    let first = this.#shared.length;
    while (first > 0 && this.#shared[first - 1]!.at >= start) first--;
    return first === this.#shared.length ? NONE : this.#shared.slice(first);
  }

  #head(field: number, length: number): void {
    this.#room(2 * VARINT_BYTES_MAX);
    this.#varint((field << 3) | LENGTH_DELIMITED);
    this.#varint(length);
  }

  #varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#at++] = rest;
  }

  #add(bytes: Uint8Array): void {
    if (bytes.length >= SHARED_BYTES_MIN) return void this.#shared.push({ at: this.#at, bytes });
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /**
   * Makes room for `size` more bytes. The shared buffer stays as it is: a larger one, of at least
   * `least` bytes, belongs to this writer.
   */
  #room(size: number, least = 2 * this.#bytes.length): void {
    if (this.#at + size <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(least, this.#at + size));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }
}

/** How many of these bytes a writer copies: none, if it shares them. */
export function copiedBytes(bytes: Uint8Array): number {
  return bytes.length < SHARED_BYTES_MIN ? bytes.length : 0;
}

function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  return value < 0x10000000 ? 4 : 5;
}
