import { checkUtf8, readUtf8 } from "../utf8.ts";

/** The rule that a body violates: a part of the message to the user. */
export class Undecodable extends Error {
  override name = "Undecodable";
}

/** Wire types of protobuf, the low three bits of a tag. */
const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const GROUP = 3;
const GROUP_END = 4;
const FIXED32 = 5;

const GROUP_DEPTH_MAX = 64;

/** V8 keeps arrays up to this size on its heap, until a view of them is made. */
const COPIED_BYTES_MAX = 64;

/** The tag of a field that holds a number. */
export function numberTag(field: number): number {
  return (field << 3) | VARINT;
}

/** The tag of a field that holds bytes, text or a message. */
export function lengthTag(field: number): number {
  return (field << 3) | LENGTH;
}

/** A set of field numbers below 32, for `FieldReader.skip`. */
export function fieldSet(...fields: readonly number[]): number {
  return fields.reduce((set, field) => set | (1 << field), 0);
}

/**
 * Reads the fields of one protobuf body, front to back, without building an object per field:
 *
 *     for (let tag = reader.next(); tag !== 0; tag = reader.next()) switch (tag) { … }
 *
 * Every method throws (`Undecodable`, or a `TypeError` for text that is not UTF-8) rather than
 * read past the end of the message it is in.
 */
export class FieldReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #end: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#end = bytes.length;
  }

  /** The next field's tag, or 0 at the end of the message. */
  next(): number {
    if (this.#at === this.#end) return 0;
    const start = this.#at;
    const tag = this.uint32();
    const size = this.#at - start;
    if (size > 5 || (size === 5 && this.#bytes[this.#at - 1]! > 0x0f) || tag >>> 3 === 0) {
      throw new Undecodable("illegal field number");
    }
    return tag;
  }

  /** A number of 32 bits. Higher bits are dropped, as protobuf wants it. */
  uint32(): number {
    const bytes = this.#bytes;
    const end = this.#end;
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#at >= end) throw truncated();
      const byte = bytes[this.#at++]!;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new Undecodable("a number is longer than 64 bits");
  }

  /** Bytes. A view of the body, or a copy of a few of them: a view costs more than copying these. */
  bytes(): Uint8Array {
    const start = this.#take();
    const size = this.#at - start;
    if (size > COPIED_BYTES_MAX) return this.#bytes.subarray(start, this.#at);
    const copy = new Uint8Array(size);
    for (let i = 0; i < size; i++) copy[i] = this.#bytes[start + i]!;
    return copy;
  }

  /** Text, or bytes that are a text. */
  string(): string {
    const start = this.#take();
    return readUtf8(this.#bytes, start, this.#at);
  }

  /** Skips text. Throws if it is not UTF-8. */
  checkString(): void {
    const start = this.#take();
    checkUtf8(this.#bytes, start, this.#at);
  }

  /** Steps into a message (or packed numbers). Hand what it returns to `leave`. */
  enter(): number {
    const start = this.#take();
    const outer = this.#end;
    this.#end = this.#at;
    this.#at = start;
    return outer;
  }

  /** Steps out of a message that was read to its end. */
  leave(outer: number): void {
    this.#end = outer;
  }

  /** Whether the message has been read to its end. */
  get atEnd(): boolean {
    return this.#at === this.#end;
  }

  /**
   * Skips an unknown field. `known`: a `fieldSet` of the known fields; one of these here has a wrong
   * wire type, which is an error.
   */
  skip(tag: number, known: number, depth = 0): void {
    const field = tag >>> 3;
    if (field < 32 && ((known >>> field) & 1) === 1) {
      throw new Undecodable(`field ${field} has the wrong wire type`);
    }
    switch (tag & 7) {
      case VARINT:
        this.uint32();
        return;
      case FIXED64:
        return this.#advance(8);
      case LENGTH:
        this.#take();
        return;
      case GROUP:
        return this.#skipGroup(field, depth + 1);
      case FIXED32:
        return this.#advance(4);
      default:
        throw new Undecodable("illegal wire type");
    }
  }

  /** Skips the rest of a message whose fields are not used. */
  skipAll(): void {
    for (let tag = this.next(); tag !== 0; tag = this.next()) this.skip(tag, 0);
  }

  #skipGroup(field: number, depth: number): void {
    if (depth > GROUP_DEPTH_MAX) throw new Undecodable("groups are nested too deep");
    for (let tag = this.next(); tag !== 0; tag = this.next()) {
      if ((tag & 7) !== GROUP_END) this.skip(tag, 0, depth);
      else if (tag >>> 3 === field) return;
      else throw new Undecodable("a group ends that did not begin");
    }
    throw truncated();
  }

  /** Skips a length and that many bytes. Returns where these start. */
  #take(): number {
    const length = this.uint32();
    const start = this.#at;
    this.#advance(length);
    return start;
  }

  #advance(size: number): void {
    if (size > this.#end - this.#at) throw truncated();
    this.#at += size;
  }
}

function truncated(): Undecodable {
  return new Undecodable("the message ends inside a field");
}
