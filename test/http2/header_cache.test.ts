import { expect, test } from "vitest";
import { HeaderCache } from "../../src/http2/header_cache.ts";
import { hex, join } from "./_bytes.ts";
import { field, OK } from "./_peer.ts";

const ADDS = "40 01 61 01";

function headerOf(cache: HeaderCache, block: Uint8Array, name: string): string | undefined {
  const { head } = cache.decode(block, 0, block.length);
  return typeof head === "string" ? head : head.header(name);
}

test("equal blocks are decoded once", () => {
  const cache = new HeaderCache();
  const block = join(OK, field("a", "1"));
  const first = cache.decode(block, 0, block.length);
  expect(cache.decode(join([9], block), 1, block.length + 1)).toBe(first);
});

test("a block means something else once the table has changed", () => {
  const cache = new HeaderCache();
  const first = join(OK, [0xbe]);
  for (const digit of ["31", "32", "33"]) {
    headerOf(cache, join(OK, hex(ADDS + digit)), "a");
    const value = String.fromCharCode(parseInt(digit, 16));
    expect([headerOf(cache, first, "a"), headerOf(cache, first, "a")]).toEqual([value, value]);
  }
});

test("a block that adds to the table adds each time", () => {
  const cache = new HeaderCache();
  const adds = join(OK, hex(`${ADDS} 31`));
  for (let i = 0; i < 3; i++) headerOf(cache, adds, "a");
  // The third last header of the table.
  expect(headerOf(cache, join(OK, [0xc0]), "a")).toBe("1");
});

test("blocks whose hash is the same are told apart", () => {
  const cache = new HeaderCache();
  const seen = new Map<number, string>();
  let pair: readonly string[] = [];
  for (let i = 0; pair.length === 0; i++) {
    const hash = fnv1a(blockOf(String(i))), other = seen.get(hash);
    if (other !== undefined) pair = [other, String(i)];
    seen.set(hash, String(i));
  }
  expect(pair.map((value) => headerOf(cache, blockOf(value), "a"))).toEqual(pair);
});

const blockOf = (value: string) => join(OK, field("a", value));

function fnv1a(bytes: Uint8Array): number {
  return bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5);
}
