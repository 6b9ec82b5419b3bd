import fc from "fast-check";
import { expect, test } from "vitest";
import { letterOf } from "../../src/kafka/letter.ts";
import { type KafkaRecord, mapperOf } from "../../src/kafka/mapping.ts";
import { recordHeadersOf } from "../../src/kafka/record_headers.ts";
import { DIALECTS } from "../../src/names.ts";

const OPTIONS = { "max.attempts": "2", "on.poison": "dead-letter:dead" };
const bytes = fc.uint8Array({ maxLength: 20 });
const record: fc.Arbitrary<KafkaRecord> = fc.record({
  offset: fc.maxSafeNat(),
  timestamp: fc.maxSafeInteger(),
  key: fc.option(bytes, { nil: undefined }),
  value: fc.option(bytes, { nil: undefined }),
  headers: fc.array(fc.tuple(fc.string({ unit: "grapheme" }), bytes), { maxLength: 4 }),
});

const source = { subscription: "sub_1", group: "g", topic: "t", partition: 3 };
const base64 = (one: Uint8Array) => Buffer.from(one).toString("base64url");

/** What the server has of a record, after the sidecar has handed it over. */
function inputOf(
  one: KafkaRecord,
  options: Readonly<Record<string, string>>,
  dialect = DIALECTS[0],
) {
  const planned = { id: "s", source: "", sink: "", createdAt: 0, options } as const;
  const mapped = mapperOf({ ...planned, sinkType: "service" }, { isScopeRead: false })(one);
  if (mapped.kind !== "record") throw new Error(mapped.kind);
  return {
    headers: recordHeadersOf(source, dialect ?? "svc")(mapped.record),
    value: mapped.record.value ?? new Uint8Array(),
  };
}

const OWED = { id: "inv_1", attempt: 2, subscription: "sub_1", at: 5, reason: "no" };

test("a letter has the record as it was: its key, value, time, place and all its headers", () => {
  fc.assert(fc.property(record, fc.constantFrom(...DIALECTS), (one, dialect) => {
    expect(letterOf({ ...OWED, ...inputOf(one, OPTIONS, dialect) })).toEqual({
      ...OWED,
      topic: "t",
      partition: 3,
      offset: one.offset,
      timestamp: one.timestamp,
      key: one.key ? base64(one.key) : null,
      value: one.value ? base64(one.value) : null,
      headers: one.headers.map(([name, value]) => [name, base64(value)]),
    });
  }));
});

test("headers are kept only where letters are wanted, and there are any", () => {
  const headers = [["a", Uint8Array.of(1)]] as const;
  const one = { offset: 1, timestamp: 1, key: undefined, value: Uint8Array.of(1), headers };
  const names = (options: Record<string, string>, of: KafkaRecord = one) =>
    inputOf(of, options).headers.map(([name]) => name).filter((name) => name.includes("record"));
  expect(names(OPTIONS)).toEqual(["svc.record-headers"]);
  expect(names(OPTIONS, { ...one, headers: [] })).toEqual([]);
  expect(names({ "max.attempts": "2" })).toEqual([]);
  expect(names({ "on.poison": "dead-letter:dead" })).toEqual([]);
});
