import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Bug } from "../../src/assert.ts";
import { parseAwakeableId, printAwakeableId } from "../../src/model/awakeable.ts";
import { BadId, parseInvocationId, printInvocationId } from "../../src/model/id.ts";
import { bytesOf } from "./_bytes.ts";

// The vectors of docs/spec/service-protocol.md#awakeable-ids.
const target = printInvocationId(bytesOf("b97f6f6ae649f81ca248d0c1e3be62e6e860217a64790679"));
const digits = "uX9vauZJ-ByiSNDB475i5uhgIXpkeQZ5AAAAEQ";
const known = `sign_1${digits}`;

const idBytes = fc.uint8Array({ minLength: 24, maxLength: 24 });
const u32 = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 0xffffffff }));

function whatIsBad(id: string): string {
  try {
    parseAwakeableId(id);
  } catch (error) {
    expect(error).toBeInstanceOf(BadId);
    return (error as Error).message;
  }
  return "nothing";
}

test("the ids of a reference attempt's two awakeables", () => {
  expect(parseAwakeableId(known)).toEqual({ target, index: 17 });
  expect(printAwakeableId(target, 17)).toBe(known);
  expect(printAwakeableId(target, 18)).toBe(known.replace(/EQ$/, "Eg"));
});

test("an id is the URL-safe base64 of its bytes, padded or not", () => {
  fc.assert(fc.property(idBytes, u32, (bytes, index) => {
    const all = Buffer.alloc(28);
    all.set(bytes);
    all.writeUInt32BE(index, 24);
    const [id, of] = [`sign_1${all.toString("base64url")}`, printInvocationId(bytes)];
    expect(printAwakeableId(of, index)).toBe(id);
    expect(parseAwakeableId(id)).toEqual({ target: of, index });
    expect(parseAwakeableId(`${id}==`)).toEqual({ target: of, index });
    expect(parseInvocationId(of)).toEqual(bytes);
  }));
});

describe("a legacy id", () => {
  test("names nothing of ours", () => {
    expect(parseAwakeableId(`prom_1${digits}`)).toBeUndefined();
    expect(parseAwakeableId(`prom_1${digits}==`)).toBeUndefined();
  });

  test("must be well-formed all the same", () => {
    expect(whatIsBad(`prom_1${digits.slice(1)}`)).toBe("bad length");
    expect(whatIsBad(`prom_2${digits}`)).toBe("unrecognized codec version");
  });
});

test.each([
  ["", "bad length"],
  ["foo", "bad format"],
  ["_1foo", "unrecognized resource type: "],
  ["sign_", "bad length"],
  ["sign_1", "id doesn't match the expected type"],
  ["sign", "bad format"],
  ["SIGN_1" + digits, "unrecognized resource type: SIGN"],
  [known.slice(0, -1), "id doesn't match the expected type"],
  [`${known}A`, "id doesn't match the expected type"],
  [`${known}=`, "id doesn't match the expected type"],
  [`${known}===`, "id doesn't match the expected type"],
  [`${known.slice(0, -1)}==`, "id doesn't match the expected type"],
  // The other alphabet, a space, a letter beyond ASCII, and bits that are left over.
  [known.replace("-", "+"), "id doesn't match the expected type"],
  [known.replace("-", "/"), "id doesn't match the expected type"],
  [known.replace("-", " "), "id doesn't match the expected type"],
  [known.replace("-", "é"), "id doesn't match the expected type"],
  [known.replace("-", "\u{1f600}"), "id doesn't match the expected type"],
  [known.replace(/Q$/, "R"), "id doesn't match the expected type"],
  ["sign_2" + digits, "unrecognized codec version"],
  ["signx1" + digits, "bad format"],
  ["foo_1" + digits, "unrecognized resource type: foo"],
  ["inv_2" + digits, "unrecognized codec version"],
  [target, "id doesn't match the expected type"],
])("%s is refused: %s", (id, why) => {
  expect(whatIsBad(id)).toBe(why);
});

test("any text gives an awakeable, nothing, or a bad id", () => {
  const digit = fc.constantFrom(..."abzAZ059-_=+é");
  const suffix = fc.array(digit, { minLength: 36, maxLength: 41 }).map((all) => all.join(""));
  const text = fc.oneof(
    fc.string(),
    fc.tuple(fc.constantFrom("sign_1", "prom_1"), suffix).map(([prefix, rest]) => prefix + rest),
  );
  fc.assert(fc.property(text, (id) => {
    const why = whatIsBad(id);
    if (why !== "nothing") return;
    const awakeable = parseAwakeableId(id);
    if (!awakeable) return;
    const { target, index } = awakeable;
    expect(printAwakeableId(target, index)).toBe(id.replace(/=+$/, ""));
  }));
});

test("what cannot be printed is refused", () => {
  expect(() => printAwakeableId("inv_1foo", 17)).toThrow(BadId);
  for (const index of [-1, 1.5, 2 ** 32, NaN]) {
    expect(() => printAwakeableId(target, index)).toThrow(Bug);
  }
});
