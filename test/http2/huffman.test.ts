import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeHuffman } from "../../src/http2/hpack/huffman.ts";
import { encodeHuffman, HUFFMAN } from "./_huffman.ts";

const BYTES = Array.from({ length: 256 }, (_, byte) => byte);
const END_OF_STRING = 256;

const text = (bytes: readonly number[]) => String.fromCharCode(...bytes);
const decode = (bytes: Uint8Array) => decodeHuffman(bytes, 0, bytes.length);

test("each of the 256 symbols is decoded", () => {
  for (const byte of BYTES) expect(decode(encodeHuffman([byte]))).toBe(text([byte]));
  expect(decode(encodeHuffman(BYTES))).toBe(text(BYTES));
});

test("any bytes are decoded from wherever they stand", () => {
  const strings = fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 50 });
  fc.assert(fc.property(strings, (bytes) => {
    const code = encodeHuffman(bytes);
    const within = Uint8Array.from([1, ...code, 2]);
    expect(decodeHuffman(within, 1, 1 + code.length)).toBe(text(bytes));
  }));
});

test("padding is of 1, and shorter than a byte", () => {
  const zero = "0".charCodeAt(0);
  expect(decode(encodeHuffman([zero], "111"))).toBe("0");
  for (const padding of ["110", "011", "000", "11111111111"]) {
    expect(decode(encodeHuffman([zero], padding)), padding).toBeUndefined();
  }
});

test("the code of the end of a string is refused", () => {
  expect(decode(encodeHuffman([END_OF_STRING]))).toBeUndefined();
  expect(decode(encodeHuffman([97, END_OF_STRING, 97]))).toBeUndefined();
});

test("the table of this test is a prefix code with a leaf for every bit string", () => {
  const filled = HUFFMAN.reduce((sum, [, bits]) => sum + 2 ** -bits, 0);
  expect([HUFFMAN.length, filled]).toEqual([257, 1]);
});
