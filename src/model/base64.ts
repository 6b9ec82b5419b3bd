const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const VALUES = new Int8Array(128).fill(-1);
for (let i = 0; i < ALPHABET.length; i++) VALUES[ALPHABET.charCodeAt(i)] = i;

/**
 * The bytes behind URL-safe base64 without padding, or undefined when it is anything else. By hand:
 * the platforms' decoders take all kinds of texts. Left over bits must be zero, so that bytes have
 * one spelling.
 */
export function fromBase64(digits: string): Uint8Array<ArrayBuffer> | undefined {
  if (digits.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor(digits.length * 3 / 4));
  let [bits, held, at] = [0, 0, 0];
  for (let i = 0; i < digits.length; i++) {
    const value = VALUES[digits.charCodeAt(i)] ?? -1;
    if (value < 0) return undefined;
    bits = (bits << 6 | value) & 0xfff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes[at++] = bits >>> held;
  }
  return (bits & (1 << held) - 1) === 0 ? bytes : undefined;
}

/** URL-safe base64 without padding. */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  let [bits, held] = [0, 0];
  for (const byte of bytes) {
    bits = (bits << 8 | byte) & 0x3fff;
    for (held += 8; held >= 6;) {
      held -= 6;
      text += ALPHABET.charAt(bits >>> held & 63);
    }
  }
  return held === 0 ? text : text + ALPHABET.charAt(bits << 6 - held & 63);
}
