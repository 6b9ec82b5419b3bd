import { Tag } from "./thread_tags.ts";

/** Objects with other names are sent with them each time. Our own messages have some hundred shapes. */
const SHAPES_MAX = 4_096;
/** Memory that is kept for the next message. */
const KEPT_BYTES = 64 * 1024;
/** The longest tag with its number, or a number of eight bytes. */
const VALUE_BYTES = 16;
const UINT_END = 0x8000_0000;

/** The names of fields up to one of them, as a tree. */
class Names {
  /** The number of the shape that ends here. */
  id: number | undefined;
  readonly #next = new Map<string, Names>();
  /** The name that came first after these, which mostly is the only one. */
  #name: string | undefined;
  #names: Names | undefined;

  get(name: string): Names | undefined {
    return name === this.#name ? this.#names : this.#next.get(name);
  }

  add(name: string): Names {
    const names = new Names();
    this.#next.set(name, names);
    if (this.#name === undefined) [this.#name, this.#names] = [name, names];
    return names;
  }
}

/** Encodes the messages to one thread, which has to read each of them, in order, by one `ThreadDecoder`. */
export class ThreadEncoder {
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;
  readonly #names = new Names();
  #shapes = 0;

  /** The message, in memory of its own, which may be handed over. Fields that are undefined are dropped. */
  encode(value: unknown): Uint8Array<ArrayBuffer> {
    this.#at = 0;
    this.#value(value);
    if (this.#at <= KEPT_BYTES) return this.#bytes.slice(0, this.#at);
    const message = this.#bytes.subarray(0, this.#at);
    this.#use(new Uint8Array(0));
    return message;
  }

  #value(value: unknown): void {
    this.#reserve(VALUE_BYTES);
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        return this.#number(value);
      case "boolean":
        return this.#byte(value ? Tag.true : Tag.false);
      case "object":
        if (value === null) return this.#byte(Tag.null);
        if (value instanceof Uint8Array) return this.#blob(value);
        if (Array.isArray(value)) {
          this.#byte(Tag.array);
          return this.#elements(value);
        }
        return this.#object(value as Readonly<Record<string, unknown>>);
      default:
        return this.#byte(Tag.null);
    }
  }

  #number(value: number): void {
    if (value >= 0 && value < UINT_END && Object.is(value | 0, value)) {
      this.#byte(Tag.uint);
      return this.#uint(value);
    }
    this.#byte(Tag.float);
    this.#view.setFloat64(this.#at, value);
    this.#at += 8;
  }

  #text(text: string): void {
    const { length } = text;
    const start = this.#at;
    this.#reserve(length + VALUE_BYTES);
    this.#byte(Tag.ascii);
    this.#uint(length);
    const bytes = this.#bytes, from = this.#at;
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80) return this.#wideText(text, start);
      bytes[from + i] = unit;
    }
    this.#at += length;
  }

  #wideText(text: string, start: number): void {
    const { length } = text;
    this.#at = start;
    this.#reserve(2 * length + VALUE_BYTES);
    this.#byte(Tag.utf16);
    this.#uint(length);
    for (let i = 0; i < length; i++) this.#view.setUint16(this.#at + 2 * i, text.charCodeAt(i));
    this.#at += 2 * length;
  }

  #blob(bytes: Uint8Array): void {
    this.#reserve(bytes.length + VALUE_BYTES);
    this.#byte(Tag.bytes);
    this.#uint(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** What stands behind the tag of an array, and behind that of an object's new shape. */
  #elements(values: readonly unknown[]): void {
    this.#uint(values.length);
    for (let i = 0; i < values.length; i++) this.#value(values[i]);
  }

  #object(fields: Readonly<Record<string, unknown>>): void {
    let names: Names | undefined = this.#names;
    for (const name in fields) {
      if (fields[name] !== undefined) names = names && this.#after(names, name);
    }
    if (names?.id !== undefined) {
      this.#byte(Tag.knownShape);
      this.#uint(names.id);
    } else {
      this.#byte(names ? Tag.newShape : Tag.loose);
      if (names) names.id = this.#shapes++;
      this.#elements(Object.keys(fields).filter((name) => fields[name] !== undefined));
    }
    for (const name in fields) {
      const value = fields[name];
      if (value !== undefined) this.#value(value);
    }
  }

  /** Undefined: there are enough shapes. */
  #after(names: Names, name: string): Names | undefined {
    return names.get(name) ?? (this.#shapes < SHAPES_MAX ? names.add(name) : undefined);
  }

  #byte(byte: number): void {
    this.#bytes[this.#at++] = byte;
  }

  #uint(value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) this.#bytes[this.#at++] = rest & 0x7f | 0x80;
    this.#bytes[this.#at++] = rest;
  }

  #reserve(size: number): void {
    const needed = this.#at + size, { length } = this.#bytes;
    if (needed <= length) return;
    // Room for what stands behind a large value, so that it is not copied once more.
    const more = new Uint8Array(needed + Math.max(length >> 1, KEPT_BYTES));
    more.set(this.#bytes.subarray(0, this.#at));
    this.#use(more);
  }

  #use(bytes: Uint8Array<ArrayBuffer>): void {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }
}
