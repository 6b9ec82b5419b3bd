import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unpackLz4 } from "../../src/kafka/codecs/lz4.ts";
import { unpackSnappy } from "../../src/kafka/codecs/snappy.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const bytes = (...parts: readonly (number | string | readonly number[])[]) =>
  Uint8Array.from(
    parts.flatMap((part) => typeof part === "string" ? [...utf8(part)] : part),
  );
const text = (unpacked: Uint8Array) => new TextDecoder().decode(unpacked);

/** Literals only: what a compressor makes of bytes that do not repeat. */
function snappyLiteral(content: Uint8Array): Uint8Array {
  const size = content.length;
  const varint = size < 128 ? [size] : [size & 0x7f | 0x80, size >>> 7];
  const tag = size === 0
    ? []
    : size <= 60
    ? [size - 1 << 2]
    : [61 << 2, size - 1 & 255, size - 1 >>> 8];
  return bytes(varint, tag, [...content]);
}

const LZ4_HEAD = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82];
const u32 = (value: number) => [value & 255, value >>> 8 & 255, value >>> 16 & 255, value >>> 24];

describe("snappy", () => {
  test("unpacks literals and copies, also those that overlap themselves", () => {
    // A literal "ab", a copy from 2 back of 4 (one-byte offset), of 6 (two), of 3 (four).
    const packed = bytes(15, 1 << 2, "ab", 1, 2, 5 << 2 | 2, 2, 0, 2 << 2 | 3, 1, 0, 0, 0);
    expect(text(unpackSnappy(packed))).toBe("abababababab" + "bbb");
  });

  test("unpacks long literals", () => {
    const content = utf8("x".repeat(300));
    expect(unpackSnappy(snappyLiteral(content))).toEqual(content);
  });

  test("unpacks the blocks of Java clients", () => {
    const [one, two] = [snappyLiteral(utf8("one ")), snappyLiteral(utf8("two"))];
    const head = [0x82, ...utf8("SNAPPY"), 0, 0, 0, 0, 1, 0, 0, 0, 1];
    const packed = bytes(head, 0, 0, 0, one.length, [...one], 0, 0, 0, two.length, [...two]);
    expect(text(unpackSnappy(packed))).toBe("one two");
  });

  test("refuses what is cut off, too long or reaches before the beginning", () => {
    expect(() => unpackSnappy(bytes(4, 3 << 2, "abc"))).toThrow(RangeError);
    expect(() => unpackSnappy(bytes(2, 2 << 2, "abc"))).toThrow("3 bytes came instead of 2");
    expect(() => unpackSnappy(bytes(5, 0, "a", 1, 2))).toThrow("before the beginning");
    expect(() => unpackSnappy(bytes(255, 255, 255, 255, 15))).toThrow("more than");
  });
});

describe("LZ4 frames", () => {
  test("unpack literals, matches and blocks that are not packed", () => {
    // Literals "ab", a match from 2 back of 4 + 15 + 3, the last literal "!".
    const block = [0x2f, ...utf8("ab"), 2, 0, 3, 0x10, ...utf8("!")];
    const plain = utf8(" end");
    const packed = bytes(
      LZ4_HEAD,
      u32(block.length),
      block,
      u32(plain.length + 0x8000_0000),
      [...plain],
      u32(0),
    );
    expect(text(unpackLz4(packed))).toBe(`${"ab".repeat(12)}! end`);
    expect(text(unpackLz4(bytes([...packed], [...packed])))).toBe(
      `${"ab".repeat(12)}! end`.repeat(2),
    );
  });

  test("with a content size and checksums unpack the same", () => {
    const block = [0x30, ...utf8("abc")];
    const head = [0x04, 0x22, 0x4d, 0x18, 0x7c, 0x40, ...Array(8).fill(0), 0];
    const packed = bytes(head, u32(block.length), block, [1, 2, 3, 4], u32(0), [5, 6, 7, 8]);
    expect(text(unpackLz4(packed))).toBe("abc");
  });

  test("refuse dictionaries, other versions and other bytes", () => {
    expect(() => unpackLz4(bytes([0x04, 0x22, 0x4d, 0x18, 0x61, 0x40]))).toThrow("dictionary");
    expect(() => unpackLz4(bytes([0x04, 0x22, 0x4d, 0x18, 0x20, 0x40]))).toThrow("version 0");
    expect(() => unpackLz4(utf8("nonsense"))).toThrow("no LZ4 frame");
    expect(() => unpackLz4(bytes(LZ4_HEAD, u32(9)))).toThrow("missing");
  });
});

test("any bytes unpack or are refused with a RangeError", () => {
  const refused = (unpack: (packed: Uint8Array) => Uint8Array, packed: Uint8Array) => {
    try {
      unpack(packed);
    } catch (cause) {
      expect(cause).toBeInstanceOf(RangeError);
    }
  };
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (random) => {
    refused(unpackSnappy, random);
    refused(unpackLz4, bytes(LZ4_HEAD, u32(random.length), [...random], u32(0)));
  }));
});
