import { Failure } from "../errors.ts";
import { readUtf8 } from "../utf8.ts";
import { Tag } from "./thread_tags.ts";

/** Units that become text by one call: its arguments go over the stack. */
const UNITS_AT_ONCE = 4_096;

const NOTHING = new Uint8Array(0);

/** Decodes the messages of one `ThreadEncoder`: each of them, in order. */
export class ThreadDecoder {
  #bytes: Uint8Array = NOTHING;
  #view: DataView = new DataView(NOTHING.buffer);
  #at = 0;
  readonly #shapes: (readonly string[])[] = [];

  /**
   * The value. Bytes that are more than half of the message are a view of it; others are copied, so that they
   * do not keep it in memory. Throws `Failure` 500 when this is no message, or not the next one.
   */
  decode(message: Uint8Array): unknown {
    this.#use(message);
    const value = this.#value();
    if (this.#at !== message.length) throw broken();
    // What is decoded is all that is left of the message.
    this.#use(NOTHING);
    return value;
  }

  #use(message: Uint8Array): void {
    this.#bytes = message;
    this.#view = new DataView(message.buffer, message.byteOffset, message.length);
    this.#at = 0;
  }

  #value(): unknown {
    switch (this.#bytes[this.#at++]) {
      case Tag.null:
        return null;
      case Tag.false:
        return false;
      case Tag.true:
        return true;
      case Tag.uint:
        return this.#uint();
      case Tag.float:
        return this.#float();
      case Tag.ascii:
        return this.#ascii();
      case Tag.utf16:
        return this.#wideText();
      case Tag.bytes:
        return this.#blob();
      case Tag.array:
        return this.#elements();
      case Tag.newShape:
        return this.#object(this.#newShape());
      case Tag.knownShape:
        return this.#object(this.#shapes[this.#uint()] ?? fail());
      case Tag.loose:
        return this.#object(this.#elements() as string[]);
      default:
        throw broken();
    }
  }

  #float(): number {
    return this.#view.getFloat64(this.#take(8));
  }

  #ascii(): string {
    const length = this.#uint();
    const from = this.#take(length);
    return readUtf8(this.#bytes, from, from + length);
  }

  #wideText(): string {
    const length = this.#uint();
    const at = this.#take(2 * length);
    let text = "";
    for (let from = 0; from < length; from += UNITS_AT_ONCE) {
      const count = Math.min(UNITS_AT_ONCE, length - from);
      const units = Array.from(
        { length: count },
        (_, i) => this.#view.getUint16(at + 2 * (from + i)),
      );
      text += String.fromCharCode(...units);
    }
    return text;
  }

  #blob(): Uint8Array {
    const size = this.#uint();
    const from = this.#take(size);
    const part = this.#bytes.subarray(from, from + size);
    return 2 * size > this.#bytes.length ? part : part.slice();
  }

  #newShape(): readonly string[] {
    const names = this.#elements() as string[];
    this.#shapes.push(names);
    return names;
  }

  #elements(): unknown[] {
    const values: unknown[] = [];
    for (let left = this.#uint(); left > 0; left--) values.push(this.#value());
    return values;
  }

  #object(names: readonly string[]): object {
    const fields: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) fields[names[i]!] = this.#value();
    return fields;
  }

  #uint(): number {
    let value = 0;
    for (let shift = 0;; shift += 7) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined || shift > 28) throw broken();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }

  /** The position of the next `size` bytes. */
  #take(size: number): number {
    const at = this.#at;
    this.#at += size;
    if (this.#at > this.#bytes.length) throw broken();
    return at;
  }
}

function fail(): never {
  throw broken();
}

function broken(): Failure {
  return Failure.plain(500, "Cannot read a message of another thread");
}
