const P1 = 0x9e3779b1 | 0, P2 = 0x85ebca77 | 0, P3 = 0xc2b2ae3d | 0;
const P4 = 0x27d4eb2f | 0, P5 = 0x165667b1 | 0;
const STRIPE_BYTES = 16;

/**
 * XXH32 of some bytes, from 0 to 2^32 - 1: a public format, with vectors in the tests. It finds damage
 * and is no protection against forgery. It takes a quarter of a nanosecond a byte, so every commit can
 * have it; `model/xxh3.ts` needs integers of 64 bits and takes hundreds of times as long.
 */
export function xxh32(bytes: Uint8Array, seed = 0): number {
  const { length } = bytes;
  const data = new DataView(bytes.buffer, bytes.byteOffset, length);
  const stripes = length - length % STRIPE_BYTES;
  let hash = (stripes > 0 ? striped(data, stripes, seed) : seed + P5 | 0) + length | 0;
  let at = stripes;
  for (; at + 4 <= length; at += 4) {
    hash = Math.imul(rotated(hash + Math.imul(data.getInt32(at, true), P3) | 0, 17), P4);
  }
  for (; at < length; at++) {
    hash = Math.imul(rotated(hash + Math.imul(data.getUint8(at), P5) | 0, 11), P1);
  }
  hash = Math.imul(hash ^ hash >>> 15, P2);
  hash = Math.imul(hash ^ hash >>> 13, P3);
  return (hash ^ hash >>> 16) >>> 0;
}

function striped(data: DataView, length: number, seed: number): number {
  let a = seed + P1 + P2 | 0, b = seed + P2 | 0, c = seed | 0, d = seed - P1 | 0;
  for (let at = 0; at < length; at += STRIPE_BYTES) {
    a = round(a, data.getInt32(at, true));
    b = round(b, data.getInt32(at + 4, true));
    c = round(c, data.getInt32(at + 8, true));
    d = round(d, data.getInt32(at + 12, true));
  }
  return rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18) | 0;
}

function round(sum: number, word: number): number {
  return Math.imul(rotated(sum + Math.imul(word, P2) | 0, 13), P1);
}

function rotated(value: number, by: number): number {
  return value << by | value >>> 32 - by;
}
