/** Digits in order of value: lower case before upper case (service protocol §7.1). */
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const BASE = 62;
const VALUES = new Int8Array(128).fill(-1);
for (let i = 0; i < BASE; i++) VALUES[DIGITS.charCodeAt(i)] = i;

/**
 * `bytes[from…to)` as a little-endian integer in base 62, padded with zeros to `width` digits.
 * Works on 16-bit limbs: ids are printed on the hot path, where BigInt costs ten times as much.
 */
export function toBase62(bytes: Uint8Array, from: number, to: number, width: number): string {
  const limbs: number[] = [];
  for (let i = to - 2; i >= from; i -= 2) limbs.push(bytes[i]! | bytes[i + 1]! << 8);
  let text = "";
  for (let digit = 0; digit < width; digit++) {
    let rest = 0;
    for (let i = 0; i < limbs.length; i++) {
      const value = rest * 0x10000 + limbs[i]!;
      limbs[i] = Math.floor(value / BASE);
      rest = value % BASE;
    }
    text = DIGITS[rest] + text;
  }
  return text;
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
