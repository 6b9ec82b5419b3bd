import { sha256 } from "@noble/hashes/sha2.js";

const encoder = new TextEncoder();

/** SHA-256 (32 bytes) over words joined by commas: what ids that others compute too are made of. */
export function digestOfList(words: readonly string[]): Uint8Array {
  return sha256(encoder.encode(words.join(",")));
}

/** SHA-256 (32 bytes) over length-prefixed parts: unlike a joined string it cannot be ambiguous. */
export function digest(words: readonly string[]): Uint8Array {
  const bytes = words.map((word) => encoder.encode(word));
  const size = bytes.reduce((sum, { length }) => sum + 4 + length, 0);
  const joined = new Uint8Array(size);
  const view = new DataView(joined.buffer);
  let at = 0;
  for (const one of bytes) {
    view.setUint32(at, one.length);
    joined.set(one, at + 4);
    at += 4 + one.length;
  }
  return sha256(joined);
}
