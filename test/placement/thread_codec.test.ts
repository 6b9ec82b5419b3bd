import fc from "fast-check";
import { expect, test } from "vitest";
import { Failure } from "../../src/errors.ts";
import { ThreadDecoder } from "../../src/placement/thread_decoder.ts";
import { ThreadEncoder } from "../../src/placement/thread_encoder.ts";

/** Two ends: what one encodes is decoded by the other, which shares no memory with it. */
function ends() {
  const encoder = new ThreadEncoder(), decoder = new ThreadDecoder();
  return (value: unknown) => decoder.decode(encoder.encode(value).slice());
}

const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.string({ minLength: 49 }));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      fc.constantFrom(null, true, false, 0, -0, 127, 128, 2 ** 31 - 1, 2 ** 31, Date.now()),
      fc.integer(),
      fc.double({ noNaN: true }),
      text,
      fc.uint8Array(),
    ),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom("id", "key", "value", "headers"), text), tie("value"), {
      maxKeys: 4,
    }),
  ),
}));

test("values arrive as they are, whatever was sent before them", () => {
  fc.assert(fc.property(fc.array(value, { maxLength: 8 }), (values) => {
    const send = ends();
    for (const value of values) expect(send(value)).toEqual(value);
  }));
});

test("fields that are undefined are dropped, and elements are null", () => {
  const send = ends();
  expect(Object.keys(send({ a: undefined, b: 1 }) as object)).toEqual(["b"]);
  expect(Object.keys(send({ a: 2, b: undefined }) as object)).toEqual(["a"]);
  expect(send([undefined])).toEqual([null]);
});

test("the names of fields go over once", () => {
  const encoder = new ThreadEncoder();
  const one = { subscription: 1, expiresAt: 2 };
  const first = encoder.encode(one).length, second = encoder.encode(one).length;
  expect(first).toBeGreaterThan(20);
  expect(second).toBe(1 + 1 + 2 * 2);
});

test("objects of ever more shapes arrive, also those beyond the ones that are numbered", () => {
  const encoder = new ThreadEncoder(), decoder = new ThreadDecoder();
  const sizes: number[] = [];
  for (const n of [...Array(5_000).keys(), 1, 4_999]) {
    const value = { [`a field of its own ${n}`]: 1, id: 1 };
    const message = encoder.encode(value);
    expect(decoder.decode(message)).toEqual(value);
    sizes.push(message.length);
  }
  const [numbered = 0, loose = 0] = sizes.slice(-2);
  expect(numbered).toBeLessThan(10);
  expect(loose).toBeGreaterThan(20);
});

test("a tree that is a thousand deep arrives", () => {
  let tree: unknown = "leaf";
  for (let depth = 0; depth < 1_000; depth++) tree = { kind: "all", of: [tree] };
  expect(ends()(tree)).toEqual(tree);
});

test("a long message is handed over, and the next one has memory of its own", () => {
  const encoder = new ThreadEncoder(), decoder = new ThreadDecoder();
  const long = new Uint8Array(1_000_000).fill(7);
  const first = encoder.encode({ long, text: "ß".repeat(100_000) });
  const second = encoder.encode({ long: "x", text: "y" });
  expect(second.buffer).not.toBe(first.buffer);
  const arrived = decoder.decode(first) as { long: Uint8Array; text: string };
  expect(Buffer.compare(arrived.long, long)).toBe(0);
  expect(arrived.text === "ß".repeat(100_000)).toBe(true);
  expect(decoder.decode(second)).toEqual({ long: "x", text: "y" });
});

test("small bytes do not keep their message in memory", () => {
  const encoder = new ThreadEncoder(), decoder = new ThreadDecoder();
  const message = encoder.encode([new Uint8Array(10), new Uint8Array(1_000)]);
  const [small, large] = decoder.decode(message) as [Uint8Array, Uint8Array];
  expect(small.buffer.byteLength).toBe(10);
  expect(large.buffer).toBe(message.buffer);
});

test("a message that is cut off, goes on or is skipped is refused", () => {
  const encoder = new ThreadEncoder();
  const sent = [{ a: "text", b: 1.5, c: [new Uint8Array(3), "ß"] }, { d: [1, 2] }];
  const [first, second] = sent.map((value) => encoder.encode(value)) as [Uint8Array, Uint8Array];
  for (let size = 0; size < first.length; size++) {
    expect(() => new ThreadDecoder().decode(first.slice(0, size)), `${size}`).toThrow(Failure);
  }
  expect(() => new ThreadDecoder().decode(Uint8Array.of(...first, 0))).toThrow(Failure);
  expect(() => new ThreadDecoder().decode(Uint8Array.of(99))).toThrow(Failure);
  const known = encoder.encode(sent[1]);
  expect(second.length).toBeGreaterThan(known.length);
  expect(() => new ThreadDecoder().decode(known)).toThrow(Failure);
});
