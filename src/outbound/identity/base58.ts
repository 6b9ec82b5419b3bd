const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/**
 * Base 58 in the alphabet of Bitcoin: how public keys of request identity are written
 * (docs/spec/service-protocol.md#signed-requests). One `1` for each leading zero byte. Takes time
 * quadratic in the length, so it is for keys only.
 */
export function encodeBase58(bytes: Uint8Array): string {
  /** The bytes as one number in base 58, lowest digit first. */
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
  const encoded = digits.reverse().map((digit) => ALPHABET[digit]);
  return "1".repeat(zeros) + encoded.join("");
}
