/** Up to here a loop is cheaper than the way into the platform's decoder. */
const SHORT = 48;

/** Refuses malformed text, and keeps a leading U+FEFF: in a message it is text. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** The text in `bytes` from `start` to `end`. Throws a `TypeError` unless it is UTF-8. */
export function readUtf8(bytes: Uint8Array, start: number, end: number): string {
  if (end - start <= SHORT) {
    let text = "";
    let at = start;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (byte >= 0x80) break;
      text += String.fromCharCode(byte);
    }
    if (at === end) return text;
  }
  return decoder.decode(bytes.subarray(start, end));
}

/** Throws a `TypeError` unless the bytes from `start` to `end` are UTF-8. */
export function checkUtf8(bytes: Uint8Array, start: number, end: number): void {
  if (end - start <= SHORT) {
    let at = start;
    while (at < end && bytes[at]! < 0x80) at++;
    if (at === end) return;
  }
  decoder.decode(bytes.subarray(start, end));
}

/**
 * Writes `text` at `at` and returns where it ends. `target` must have room for three bytes per
 * UTF-16 unit. Unpaired surrogates become U+FFFD.
 */
export function writeUtf8(target: Uint8Array, at: number, text: string): number {
  if (text.length <= SHORT) {
    let i = 0;
    for (; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80) break;
      target[at + i] = unit;
    }
    if (i === text.length) return at + i;
  }
  return at + encoder.encodeInto(text, target.subarray(at)).written;
}

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
