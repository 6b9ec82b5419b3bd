import fc from "fast-check";
import { expect, test } from "vitest";
import { compareText } from "../../src/storage/codec/order.ts";
import { fromJson, fromSafe, toJson, toSafe } from "../../src/storage/codec/safe_text.ts";
import { NAMES } from "./_counters.ts";

const unit = fc.oneof(
  fc.constantFrom(0, 1, 2, 0x5c, 0x75, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xe001, 0xffff),
  fc.nat(0xffff),
);
const text = fc.array(unit, { maxLength: 8 }).map((units) => String.fromCharCode(...units));
const UNSAFE = /\0|\p{Surrogate}/u;

test("any text comes back from its safe spelling", () => {
  fc.assert(fc.property(fc.oneof(text, fc.constantFrom(...NAMES)), (text) => {
    expect(toSafe(text)).not.toMatch(UNSAFE);
    expect(fromSafe(toSafe(text))).toBe(text);
  }));
});

test("safe spellings sort as the texts do, by code point", () => {
  const bytes = (text: string) => Array.from(text, (one) => one.codePointAt(0) ?? 0);
  fc.assert(fc.property(text, text, (a, b) => {
    expect(Math.sign(compareText(toSafe(a), toSafe(b)))).toBe(Math.sign(compareText(a, b)));
    const [left, right] = [bytes(a), bytes(b)];
    const at = left.findIndex((point, i) => point !== right[i]);
    const order = at < 0 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1);
    expect(Math.sign(compareText(a, b))).toBe(Math.sign(order));
  }));
});

test("JSON comes back, and holds only safe text", () => {
  fc.assert(fc.property(fc.array(fc.oneof(text, fc.double({ noNaN: true }))), (value) => {
    const json = toJson(value);
    const strings: unknown[] = [];
    JSON.parse(json, (_, part) => typeof part === "string" ? strings.push(part) : part);
    for (const one of strings) expect(one).not.toMatch(UNSAFE);
    expect(fromJson(json)).toEqual(JSON.parse(JSON.stringify(value)));
  }));
});
