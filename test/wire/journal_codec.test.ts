import { fromBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Bug } from "../../src/assert.ts";
import {
  type Entry,
  entryType,
  type HeaderPair,
  type NotificationId,
  type NotificationResult,
} from "../../src/model/journal.ts";
import * as pb from "../../src/wire/gen/service_pb.ts";
import {
  encodeEntry,
  encodeReplay,
  encodeRunAck,
  encodeStart,
  type Start,
} from "../../src/wire/journal_codec.ts";
import { bytesOf, concat, type Frame, framesOf, utf8 } from "./_bytes.ts";

const u32 = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 0xffffffff }));
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme" }),
  fc.nat(400).map((size) => "é".repeat(size)),
);
/** So large that a length or the writer's buffer grows, or that the bytes are shared. */
const large = fc.constantFrom(127, 128, 8191, 8192, 16383, 16384, 70000)
  .map((size) => new Uint8Array(size).fill(size));
const bytes = fc.oneof(
  { arbitrary: fc.uint8Array({ maxLength: 100 }), weight: 9 },
  { arbitrary: large, weight: 1 },
);
const pairs: fc.Arbitrary<HeaderPair[]> = fc.array(fc.tuple(text, text), { maxLength: 4 });

const start: fc.Arbitrary<Start> = fc.record({
  id: text,
  idBytes: fc.uint8Array({ minLength: 24, maxLength: 24 }),
  state: fc.option(fc.array(fc.record({ name: text, value: bytes }), { maxLength: 4 }), {
    nil: undefined,
  }),
  partialState: fc.boolean(),
  key: text,
  retryCount: u32,
  sinceLastEntryMs: fc.oneof(fc.nat(), fc.maxSafeNat()),
  randomSeed: fc.uint8Array({ minLength: 8, maxLength: 8 }),
  scope: fc.option(text, { nil: undefined }),
  limitKey: fc.option(text, { nil: undefined }),
  idempotencyKey: fc.option(text, { nil: undefined }),
}) as fc.Arbitrary<Start>;

const input: fc.Arbitrary<Entry> = fc.record({
  kind: fc.constant("input"),
  headers: pairs,
  value: bytes,
});
const command: fc.Arbitrary<Entry> = fc.record({
  kind: fc.constant("command"),
  type: fc.integer({ min: 0x0401, max: 0x0414 }),
  bytes,
});
const id: fc.Arbitrary<NotificationId> = fc.oneof(
  u32.map((it) => ({ kind: "completion" as const, id: it })),
  u32.map((index) => ({ kind: "signal" as const, index })),
  text.map((name) => ({ kind: "named" as const, name })),
);
const result: fc.Arbitrary<NotificationResult> = fc.oneof(
  fc.constant({ kind: "void" as const }),
  bytes.map((value) => ({ kind: "value" as const, value })),
  fc.record({ code: fc.nat(0xffff), message: text, metadata: pairs })
    .map((failure) => ({ kind: "failure" as const, failure })),
  text.map((it) => ({ kind: "invocationId" as const, id: it })),
  fc.array(text).map((keys) => ({ kind: "stateKeys" as const, keys })),
);
const notification: fc.Arbitrary<Entry> = fc.record({
  kind: fc.constant("notification"),
  type: fc.constantFrom(...Object.values(entryType).filter((type) => type >= 0x8000)),
  id,
  result,
});
const entry = fc.oneof(input, command, notification);

/** The notification as the SDK reads it. */
function notificationOf(body: Uint8Array): { id: NotificationId; result: NotificationResult } {
  const message = fromBinary(pb.NotificationSchema, body);
  return { id: idOf(message), result: resultOf(message) };
}

function idOf({ id: { case: kind, value } }: pb.Notification): NotificationId {
  switch (kind) {
    case "completionId":
      return { kind: "completion", id: value };
    case "signalId":
      return { kind: "signal", index: value };
    case "signalName":
      return { kind: "named", name: value };
    default:
      throw new Error("no id");
  }
}

function resultOf({ result: { case: kind, value } }: pb.Notification): NotificationResult {
  switch (kind) {
    case "void":
      return { kind: "void" };
    case "value":
      return { kind: "value", value: value.content };
    case "failure": {
      const metadata = value.metadata.map((one) => [one.key, one.value] as const);
      const { code, message } = value;
      return { kind: "failure", failure: { code, message, metadata } };
    }
    case "invocationId":
      return { kind: "invocationId", id: value };
    case "stateKeys":
      return { kind: "stateKeys", keys: value.keys.map((key) => new TextDecoder().decode(key)) };
    default:
      throw new Error("no result");
  }
}

/** A frame turned back into the entry it came from. */
function entryOf({ type, body }: Frame): Entry {
  if (type === entryType.input) {
    const { headers, value } = fromBinary(pb.InputCommandSchema, body);
    if (!value) throw new Error("no value");
    return {
      kind: "input",
      headers: headers.map((one) => [one.key, one.value] as const),
      value: value.content,
    };
  }
  if (type < 0x8000) return { kind: "command", type, bytes: body };
  return { kind: "notification", type, ...notificationOf(body) };
}

test("an entry is one frame, which the SDK reads as the same entry", () => {
  fc.assert(fc.property(entry, (one) => {
    expect(framesOf(encodeEntry(one)).map(entryOf)).toEqual([one]);
  }));
});

test("a replay is Start and its entries, in order", () => {
  fc.assert(
    fc.property(start, fc.array(entry, { minLength: 1, maxLength: 8 }), (first, entries) => {
      const [head, ...frames] = framesOf(...encodeReplay(first, entries));
      expect(frames.map(entryOf)).toEqual(entries);
      expect([head]).toEqual(framesOf(encodeStart(first, entries.length)));
    }),
  );
});

test("Start says what it was given", () => {
  fc.assert(fc.property(start, fc.integer({ min: 1, max: 0xffffffff }), (first, known) => {
    const [frame] = framesOf(encodeStart(first, known));
    const message = fromBinary(pb.StartSchema, frame?.body ?? new Uint8Array());
    const seed = new DataView(first.randomSeed.buffer).getBigUint64(0);
    expect(message).toMatchObject({
      id: first.idBytes,
      debugId: first.id,
      knownEntries: known,
      partialState: first.partialState,
      key: first.key,
      retryCountSinceLastStoredEntry: first.retryCount,
      durationSinceLastStoredEntry: BigInt(first.sinceLastEntryMs),
      randomSeed: seed,
    });
    const { scope, limitKey, idempotencyKey } = message;
    expect([scope, limitKey, idempotencyKey])
      .toEqual([first.scope, first.limitKey, first.idempotencyKey]);
    expect(message.stateMap.map(({ key, value }) => ({ key, value })))
      .toEqual((first.state ?? []).map(({ name, value }) => ({ key: utf8(name), value })));
  }));
});

test("an acknowledgement of a run is read as such", () => {
  fc.assert(fc.property(u32, (completionId) => {
    const [frame, ...more] = framesOf(encodeRunAck(completionId));
    expect([frame?.type, frame?.flags, more]).toEqual([0x0007, 0, []]);
    expect(fromBinary(pb.ProposeRunCompletionAckSchema, frame?.body ?? new Uint8Array()))
      .toMatchObject({ completionId });
  }));
});

// What docs/spec/service-protocol.md#notifications allows, byte by byte: id, then result.
test.each(
  [
    ["a signal by index", "fbff", { kind: "signal", index: 17 }, "10 11"],
    ["a signal by a large index", "fbff", { kind: "signal", index: 2 ** 32 - 1 }, "10 ffffffff0f"],
    ["a signal by index 0", "fbff", { kind: "signal", index: 0 }, "10 00"],
    ["a signal by name", "fbff", { kind: "named", name: "go" }, '1a 02 "go"'],
    ["a signal by the empty name", "fbff", { kind: "named", name: "" }, "1a 00"],
    ["a promise", "8009", { kind: "completion", id: 3 }, "08 03"],
    ["a peeked promise", "800a", { kind: "completion", id: 3 }, "08 03"],
    ["a completed promise", "800b", { kind: "completion", id: 3 }, "08 03"],
    ["an attached invocation", "8012", { kind: "completion", id: 3 }, "08 03"],
    ["the output of an invocation", "8013", { kind: "completion", id: 3 }, "08 03"],
  ] as const,
)("%s is told in the protocol's bytes", (_what, hex, id, idBytes) => {
  const failure = { code: 409, message: "no", stacktrace: "never told" };
  const told = ([
    [{ kind: "void" }, "22 00"],
    [{ kind: "value", value: utf8("7") }, "2a 03 0a 01 37"],
    [{ kind: "value", value: utf8("") }, "2a 00"],
    [{ kind: "failure", failure }, '32 07 08 99 03 12 02 "no"'],
  ] as const).map(([result, bytes]) => [result, bytesOf(`${idBytes} ${bytes}`)] as const);
  for (const [result, body] of told) {
    const frame = encodeEntry({ kind: "notification", type: parseInt(hex, 16), id, result });
    expect(frame).toEqual(Uint8Array.of(...bytesOf(`${hex} 0000 000000`), body.length, ...body));
  }
});

const plain: Start = {
  id: "inv_1",
  idBytes: new Uint8Array(24),
  partialState: false,
  key: "",
  retryCount: 0,
  sinceLastEntryMs: 0,
  randomSeed: new Uint8Array(8),
};

test("defaults are absent", () => {
  const [frame] = framesOf(encodeStart(plain, 1));
  expect(frame?.body.length).toBe(2 + 24 + 2 + 5 + 2);
});

test("a value that is empty is there all the same", () => {
  const empty: Entry = { kind: "input", headers: [], value: new Uint8Array() };
  expect([...encodeEntry(empty).subarray(8)]).toEqual([0x72, 0]);
});

test("a small journal is one piece, and nothing in it is shared", () => {
  const command: Entry = { kind: "command", type: entryType.run, bytes: new Uint8Array(6_000) };
  const [piece, ...more] = encodeReplay(plain, [command]);
  expect(more).toEqual([]);
  expect(piece?.buffer.byteLength).toBe(piece?.length);
});

test("large values of input, state and results are handed on without a copy", () => {
  const value = new Uint8Array(8_192);
  const entries: Entry[] = [
    { kind: "input", headers: [], value },
    {
      kind: "notification",
      type: 0x8011,
      id: { kind: "completion", id: 1 },
      result: { kind: "value", value },
    },
  ];
  const pieces = encodeReplay({ ...plain, state: [{ name: "a", value }] }, entries);
  expect(pieces.filter((piece) => piece === value).length).toBe(3);
  expect(pieces[0]?.buffer.byteLength).toBeLessThan(value.length);
});

test("a large command is handed on without a copy", () => {
  const large: Entry = { kind: "command", type: entryType.run, bytes: new Uint8Array(70_000) };
  const small: Entry = { kind: "input", headers: [], value: new Uint8Array(3) };
  const pieces = encodeReplay(plain, [small, large, small]);
  expect(pieces.length).toBe(3);
  expect(pieces[1]).toBe(large.bytes);
  expect(framesOf(concat(pieces)).slice(1).map(entryOf)).toEqual([small, large, small]);
});

test("what was encoded before does not change with the next", () => {
  const one = encodeEntry({ kind: "input", headers: [], value: utf8("one") });
  const before = one.slice();
  encodeEntry({ kind: "input", headers: [], value: utf8("two") });
  expect(one).toEqual(before);
});

test("Start without entries, or with half a seed, is a bug", () => {
  expect(() => encodeStart(plain, 0)).toThrow(Bug);
  expect(() => encodeStart({ ...plain, randomSeed: new Uint8Array(4) }, 1)).toThrow(Bug);
});

test("a large state is written into one buffer that is little larger", () => {
  const value = new Uint8Array(2_000);
  const state = Array.from({ length: 600 }, (_, i) => ({ name: `name ${i}`, value }));
  const frame = encodeStart({ ...plain, state }, 1);
  expect(frame.buffer.byteLength).toBeLessThan(1.05 * frame.length);
});
