/** Reads bytes in order. Every method throws `RangeError` where there are too few. */
export class Input {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  byte(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  /** The low `size` bytes of a number, the lowest first. At most 4. */
  littleEndian(size: number): number {
    let value = 0;
    for (let i = 0; i < size; i++) value += this.byte() * 2 ** (8 * i);
    return value;
  }

  uint32(): number {
    return this.#view.getUint32(this.#advance(4));
  }

  /** A view of the next bytes. */
  take(size: number): Uint8Array {
    const from = this.#advance(size);
    return this.#bytes.subarray(from, from + size);
  }

  #advance(size: number): number {
    const from = this.#at;
    if (from + size > this.#bytes.length) {
      throw new RangeError(`Cannot unpack: ${from + size - this.#bytes.length} bytes are missing`);
    }
    this.#at += size;
    return from;
  }
}
