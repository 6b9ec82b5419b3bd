/** All pieces in a row, in memory of their own. */
export function concatBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
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

/**
 * The bytes from `at` to `end`, in memory of their own. Not by `slice`: a chunk may be a platform's own
 * kind of array, whose `slice` shares memory.
 */
export function copyBytes(bytes: Uint8Array, at = 0, end = bytes.length): Uint8Array {
  return new Uint8Array(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
}
