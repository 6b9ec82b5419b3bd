import fc from "fast-check";
import { expect, test } from "vitest";
import { withUtf8 } from "../../src/utf8.ts";

const utf8 = (text: string) => withUtf8(text, (bytes) => bytes.slice());

test("a text is encoded as the platform does, whatever was encoded before it", () => {
  fc.assert(fc.property(fc.array(fc.string({ unit: "binary" })), (texts) => {
    for (const text of texts) expect(utf8(text)).toEqual(new TextEncoder().encode(text));
  }));
});

test.each([
  ["as long as the memory for it", "a".repeat(65_536)],
  ["longer", "a".repeat(65_537)],
  ["longer as bytes only", "ß".repeat(40_000)],
  ["cut within a character", `a${"𝄞".repeat(16_384)}`],
])("a text is encoded whole: %s", (_, text) => {
  expect(new TextDecoder().decode(utf8(text))).toBe(text);
  expect(utf8("x")).toEqual(new Uint8Array([120]));
});
