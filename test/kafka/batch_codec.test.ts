import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeBatch, encodeBatch } from "../../src/kafka/batch_codec.ts";
import type { IngestRecord, RecordBatch } from "../../src/model/kafka.ts";

const optional = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: undefined });
const text = fc.string({ unit: "grapheme" });
const bytes = fc.uint8Array({ maxLength: 40 });

const record: fc.Arbitrary<IngestRecord> = fc.record({
  offset: fc.maxSafeNat(),
  timestamp: fc.maxSafeInteger(),
  key: optional(bytes),
  objectKey: optional(text),
  value: optional(bytes),
  headers: fc.array(fc.tuple(text, text), { maxLength: 3 }),
  scope: optional(text),
  limitKey: optional(text),
  traceparent: optional(text),
});

const batch: fc.Arbitrary<RecordBatch> = fc.record({
  subscription: text,
  group: text,
  topic: text,
  partition: fc.nat(),
  next: fc.maxSafeNat(),
  records: fc.array(record, { maxLength: 5 }),
});

test("a batch is read as it was written", () => {
  fc.assert(fc.property(batch, (batch) => {
    expect(decodeBatch(encodeBatch(batch))).toEqual(batch);
  }));
});

test("a batch that is cut off, or has more than it names, is refused", () => {
  fc.assert(fc.property(batch, fc.nat(), (batch, at) => {
    const packed = encodeBatch(batch);
    expect(() => decodeBatch(packed.subarray(0, at % packed.length))).toThrow(
      "no batch of records",
    );
    expect(() => decodeBatch(new Uint8Array([...packed, 0]))).toThrow("no batch of records");
  }));
});

test.each([
  ["", "nothing"],
  ["\0\0\0\u0002{}", "no columns"],
  ["\0\0\0\u0004null", "no object"],
  ['\0\0\0\u0009{"a": oops', "no JSON"],
  ["\xff\xff\xff\xff", "a size beyond the end"],
])("%j is refused: %s", (text) => {
  const packed = Uint8Array.from(text, (one) => one.charCodeAt(0));
  expect(() => decodeBatch(packed)).toThrow("no batch of records");
});
