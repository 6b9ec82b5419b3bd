/** Bytes that fill their buffer: sent to another thread, they copy no larger buffer. */
export type Blob = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

/** Texts concatenated as UTF-8, from which SQL takes them by `substr(?, from, size)`. */
export class TextBlob {
  readonly blob: Uint8Array;
  readonly #places: string[];

  /** None of the texts is empty. */
  constructor(texts: readonly string[]) {
    const all = texts.join("");
    // Encoding all texts at once is many times cheaper. If all are ASCII, their lengths are their sizes.
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
