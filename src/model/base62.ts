/**
 * Digits in order of value: lower case before upper case
 * (docs/spec/service-protocol.md#invocation-ids).
 */
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const BASE = 62;
const VALUES = new Int8Array(128).fill(-1);
for (let i = 0; i < BASE; i++) VALUES[DIGITS.charCodeAt(i)] = i;

/** Each number below 62² as the codes of its two digits. */
const PAIR = BASE * BASE;
const PAIRS = new Uint8Array(2 * PAIR);
for (let i = 0; i < PAIR; i++) {
  PAIRS[2 * i] = DIGITS.charCodeAt(Math.floor(i / BASE));
  PAIRS[2 * i + 1] = DIGITS.charCodeAt(i % BASE);
}
/** Big enough for 16 bytes; only used within one synchronous call. */
const limbs = new Int32Array(8);
const codes: number[] = [];

/**
 * `bytes[from…to)`, at most 16, as a little-endian integer in base 62, padded with zeros to `width`
 * digits. Works on 16-bit limbs, two digits at a time, and makes one string: ids are printed on the
 * hot path, where BigInt costs ten times as much.
 */
export function toBase62(bytes: Uint8Array, from: number, to: number, width: number): string {
  const count = (to - from) >> 1;
  for (let i = 0; i < count; i++) {
    const at = to - 2 * (i + 1);
    limbs[i] = bytes[at]! | bytes[at + 1]! << 8;
  }
  codes.length = width;
  for (let digit = width; digit > 0; digit -= 2) {
    let rest = 0;
    for (let i = 0; i < count; i++) {
      const value = rest * 0x10000 + limbs[i]!;
      limbs[i] = value / PAIR;
      rest = value % PAIR;
    }
    codes[digit - 1] = PAIRS[2 * rest + 1]!;
    if (digit > 1) codes[digit - 2] = PAIRS[2 * rest]!;
  }
  return String.fromCharCode(...codes);
}

/** The reverse of `toBase62`, into `bytes[from…to)`. False when a digit is wrong or it overflows. */
export function fromBase62(text: string, bytes: Uint8Array, from: number, to: number): boolean {
  const limbs: number[] = new Array((to - from) / 2).fill(0);
  for (let digit = 0; digit < text.length; digit++) {
    let carry = VALUES[text.charCodeAt(digit)] ?? -1;
    if (carry < 0) return false;
    for (let i = 0; i < limbs.length; i++) {
      const value = limbs[i]! * BASE + carry;
      limbs[i] = value & 0xffff;
      carry = Math.floor(value / 0x10000);
    }
    if (carry > 0) return false;
  }
  for (let i = 0; i < limbs.length; i++) {
    bytes[from + 2 * i] = limbs[i]! & 0xff;
    bytes[from + 2 * i + 1] = limbs[i]! >> 8;
  }
  return true;
}
