import type { ByteStream } from "./byte_stream.ts";
import { COPIED_BYTES_MAX, OUTPUT_BYTES_MAX, SLAB_BYTES } from "./limits.ts";
import { FRAME_HEAD_BYTES } from "./protocol.ts";

/**
 * Gathers the frames of one tick, and writes them to the byte stream at once, in a microtask. While
 * the byte stream is full it gathers on.
 */
export class Output {
  readonly #written: () => void;
  #stream: ByteStream | undefined;
  /** Whole pieces that precede the unfinished part of the slab. */
  #pieces: Uint8Array[] = [];
  #slab = new Uint8Array(SLAB_BYTES);
  /** The unfinished part of the slab. What precedes it was handed over and is never changed. */
  #from = 0;
  #to = 0;
  #bytes = 0;
  #isDue = false;
  #isFull = false;

  /** `written` is called after each write, when there is room again. */
  constructor(written: () => void) {
    this.#written = written;
  }

  /** Begins to write, with what was gathered so far. */
  attach(stream: ByteStream): void {
    this.#stream = stream;
    this.#schedule();
  }

  /** Drops what was gathered, and writes nothing any more. */
  detach(): void {
    this.#stream = undefined;
    this.#pieces = [];
    this.#bytes = 0;
  }

  /** Whether DATA should wait: the byte stream is full, or much was gathered. */
  get isBlocked(): boolean {
    return this.#isFull || this.#bytes >= OUTPUT_BYTES_MAX;
  }

  /** Bytes that were gathered and not handed over. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The byte stream has room again. */
  drained(): void {
    this.#isFull = false;
    this.flush();
  }

  /** Appends the head of a frame; its payload of `length` bytes must follow. */
  head(length: number, type: number, flags: number, stream: number): void {
    this.#reserve(FRAME_HEAD_BYTES);
    const slab = this.#slab;
    let to = this.#to;
    slab[to++] = length >>> 16;
    slab[to++] = length >>> 8;
    slab[to++] = length;
    slab[to++] = type;
    slab[to++] = flags;
    this.#to = to;
    this.int32(stream);
    this.#bytes += FRAME_HEAD_BYTES - 4;
    this.#schedule();
  }

  int16(value: number): void {
    this.#reserve(2);
    this.#slab[this.#to++] = value >>> 8;
    this.#slab[this.#to++] = value;
    this.#bytes += 2;
  }

  int32(value: number): void {
    this.#reserve(4);
    const slab = this.#slab;
    let to = this.#to;
    slab[to++] = value >>> 24;
    slab[to++] = value >>> 16;
    slab[to++] = value >>> 8;
    slab[to++] = value;
    this.#to = to;
    this.#bytes += 4;
  }

  /** Appends a copy of the bytes from `at` to `end`. */
  copy(bytes: Uint8Array, at: number, end: number): void {
    this.#bytes += end - at;
    for (let from = at; from < end;) {
      if (this.#to === SLAB_BYTES) this.#renew();
      const to = Math.min(end, from + SLAB_BYTES - this.#to);
      const whole = from === 0 && to === bytes.length;
      this.#slab.set(whole ? bytes : bytes.subarray(from, to), this.#to);
      this.#to += to - from;
      from = to;
    }
    this.#schedule();
  }

  /** Appends the bytes from `at` to `end`, which must never change: many are not copied. */
  append(bytes: Uint8Array, at: number, end: number): void {
    if (end - at <= COPIED_BYTES_MAX) return this.copy(bytes, at, end);
    this.#cut();
    this.#pieces.push(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    this.#bytes += end - at;
    this.#schedule();
  }

  /** Writes what was gathered, unless the byte stream is full. */
  flush(): void {
    this.#isDue = false;
    const stream = this.#stream;
    if (!stream || this.#isFull) return;
    this.#cut();
    if (this.#pieces.length > 0) {
      const pieces = this.#pieces;
      this.#pieces = [];
      this.#bytes = 0;
      this.#isFull = !stream.write(pieces);
    }
    if (!this.#isFull) this.#written();
  }

  #schedule(): void {
    if (this.#isDue || !this.#stream) return;
    this.#isDue = true;
    queueMicrotask(() => this.flush());
  }

  /** Ends the unfinished part of the slab. */
  #cut(): void {
    if (this.#to > this.#from) this.#pieces.push(this.#slab.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }

  #reserve(bytes: number): void {
    if (this.#to + bytes > SLAB_BYTES) this.#renew();
  }

  #renew(): void {
    this.#cut();
    this.#slab = new Uint8Array(SLAB_BYTES);
    this.#from = this.#to = 0;
  }
}
