import { sha256 } from "@noble/hashes/sha2.js";

const encoder = new TextEncoder();

/** SHA-256 (32 bytes) over words joined by commas: source of the ids that callers can compute, too. */
export function digestOfList(words: readonly string[]): Uint8Array {
  return sha256(encoder.encode(words.join(",")));
}
