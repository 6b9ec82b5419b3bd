/** Bytes that fill their buffer: they cross threads without dragging along a larger one. */
export type Blob = Uint8Array<ArrayBuffer>;

const FIRST_BYTES = 4096;
const encoder = new TextEncoder();

/** All pieces in a row. */
export function concat(pieces: readonly Uint8Array[]): Blob {
  let size = 0;
  for (const piece of pieces) size += piece.length;
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** Gathers pieces into one blob, out of which SQL takes them by `substr(?, from, size)`. */
export class BlobBuilder {
  #bytes: Blob = new Uint8Array(FIRST_BYTES);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Where the next piece begins, counted from 1 as SQL does. */
  get next(): number {
    return this.#size + 1;
  }

  add(piece: Uint8Array): void {
    this.#reserve(piece.length);
    this.#bytes.set(piece, this.#size);
    this.#size += piece.length;
  }

  /** Adds text as UTF-8 and returns how many bytes it took. */
  addText(text: string): number {
    // A UTF-16 unit takes at most three bytes of UTF-8.
    this.#reserve(text.length * 3);
    const { written } = encoder.encodeInto(text, this.#bytes.subarray(this.#size));
    this.#size += written;
    return written;
  }

  /** The blob so far. Never empty: of an empty blob, SQL's `substr` makes a null. */
  build(): Blob {
    return this.#bytes.slice(0, Math.max(this.#size, 1));
  }

  #reserve(size: number): void {
    const needed = this.#size + size;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
