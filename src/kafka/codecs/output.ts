/** The largest batch of records that is unpacked, in bytes: beyond it a packed one is an attack. */
export const UNPACKED_BYTES_MAX = 268_435_456;

const FIRST_BYTES = 65_536;

/** Bytes that grow at their end, and repeat what they have: what LZ77 codecs write into. */
export class Output {
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;

  /** `expected`: how many bytes there will be, if that is known. */
  constructor(expected = FIRST_BYTES) {
    if (expected > UNPACKED_BYTES_MAX) throw tooLarge();
    this.#bytes = new Uint8Array(expected);
  }

  get length(): number {
    return this.#length;
  }

  /** What was written: a view. */
  written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /**
   * Repeats `length` bytes from `distance` before the end, which may include bytes that it writes.
   * Throws `RangeError` if there are not as many.
   */
  repeat(distance: number, length: number): void {
    if (distance < 1 || distance > this.#length) {
      throw new RangeError(`Cannot unpack: ${distance} bytes back are before the beginning`);
    }
    this.#reserve(length);
    const [bytes, from] = [this.#bytes, this.#length - distance];
    if (distance >= length) {
      bytes.copyWithin(this.#length, from, from + length);
    } else {
      for (let i = 0; i < length; i++) bytes[this.#length + i] = bytes[from + i]!;
    }
    this.#length += length;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed > UNPACKED_BYTES_MAX) throw tooLarge();
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.min(Math.max(needed, this.#length * 2), UNPACKED_BYTES_MAX));
    larger.set(this.written());
    this.#bytes = larger;
  }
}

function tooLarge(): RangeError {
  return new RangeError(`Cannot unpack more than ${UNPACKED_BYTES_MAX} bytes`);
}
