const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/**
 * Base 58 in the alphabet of Bitcoin: how public keys of request identity are written
 * (docs/spec/service-protocol.md#signed-requests). One `1` for each zero byte in front. Takes time
 * that grows with the square of the length: for keys.
 */
export function encodeBase58(bytes: Uint8Array): string {
  /** Digits of the number that the bytes are, the lowest first. */
  const digits: number[] = [];
  for (const byte of bytes) {
    let carry = byte;
    for (let i = 0; i < digits.length || carry > 0; i++) {
      carry += (digits[i] ?? 0) * 256;
      digits[i] = carry % 58;
      carry = Math.floor(carry / 58);
    }
  }
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros++;
  const rest = digits.reverse().map((digit) => ALPHABET[digit]);
  return "1".repeat(zeros) + rest.join("");
}
