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

const encoder = new TextEncoder();
/** Texts of more bytes, which are rare, are encoded into memory of their own. */
const SCRATCH_BYTES = 64 * 1024;
let scratch: Uint8Array | undefined;

/**
 * What `read` makes of a text as UTF-8. The bytes are void once it returns, since the next text is encoded
 * into the same memory: encoding into new memory takes some ten times as long (20 KB: 10 µs instead of 1),
 * and leaves it to the garbage collector. `read` must not call `withUtf8`. Unpaired surrogates become
 * U+FFFD.
 */
export function withUtf8<T>(text: string, read: (bytes: Uint8Array) => T): T {
  scratch ??= new Uint8Array(SCRATCH_BYTES);
  if (text.length > SCRATCH_BYTES) return read(encoder.encode(text));
  const { read: taken, written } = encoder.encodeInto(text, scratch);
  return read(taken === text.length ? scratch.subarray(0, written) : encoder.encode(text));
}
