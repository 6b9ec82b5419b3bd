/** Bytes that fill their buffer: they cross threads without dragging along a larger one. */
export type Blob = Uint8Array<ArrayBuffer>;

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

/** Texts in a row as UTF-8, out of which SQL takes them by `substr(?, from, size)`. */
export class TextBlob {
  readonly blob: Uint8Array;
  readonly #places: string[];

  /** None of the texts is empty. */
  constructor(texts: readonly string[]) {
    const all = texts.join("");
    // Encoding all at once is many times cheaper. Only ASCII keeps its length, which tells sizes.
    this.blob = encoder.encode(all);
    const isAscii = this.blob.length === all.length;
    let from = 1;
    this.#places = texts.map((text) => {
      const size = isAscii ? text.length : encoder.encode(text).length;
      const place = `${from},${size}`;
      from += size;
      return place;
    });
  }

  /** `from,size` of a text, counted from 1 as SQL does. */
  place(index: number): string {
    return this.#places[index] ?? "null,null";
  }
}
