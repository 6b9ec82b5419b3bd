import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Failure } from "../../src/errors.ts";
import { decodeMessage, type Message } from "../../src/wire/decode.ts";
import * as messages from "./_messages.ts";
import { hasEmptyOnes, oracle, suspensionOracle } from "./_oracle.ts";

/** The message, or undefined when it is refused. Anything but a `Failure` fails the test. */
function decode(type: number, bytes: Uint8Array, version: number): Message | undefined {
  try {
    return decodeMessage(type, 0, bytes, version);
  } catch (error) {
    expect(error).toBeInstanceOf(Failure);
    return undefined;
  }
}

function told<T>(say: () => T): T | undefined {
  try {
    return say();
  } catch {
    return undefined;
  }
}

/** Bytes that are nearly a message: some changed, some cut away, some added. */
function nearly(bytes: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  const edit = fc.record({ at: fc.nat(), byte: fc.nat(255), kind: fc.nat(2) });
  return fc.tuple(bytes, fc.array(edit, { minLength: 1, maxLength: 4 })).map(([whole, edits]) => {
    const list = [...whole];
    for (const { at, byte, kind } of edits) {
      if (kind === 0) list.splice(at % (list.length + 1), 0, byte);
      else list.splice(at % (list.length + 1), 1, ...kind === 1 ? [byte] : []);
    }
    return Uint8Array.from(list);
  });
}

/** Two messages one after the other: protobuf merges them. */
function twice(bytes: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  return fc.tuple(bytes, bytes).map(([a, b]) => Uint8Array.of(...a, ...b));
}

describe.each(messages.hotCommands)("command $type", ({ type, schema, contents }) => {
  const bytes = messages.encoded({ type, schema, contents });
  const expected = (body: Uint8Array) => oracle[type]?.(body);

  test("is read as the generated code reads it", () => {
    fc.assert(fc.property(bytes, (body) => {
      expect(decode(type, body, 7)).toEqual({ kind: "command", command: expected(body) });
    }));
  });

  test("is merged as the generated code merges it", () => {
    fc.assert(fc.property(twice(bytes), (body) => {
      expect(decode(type, body, 7)).toEqual({ kind: "command", command: expected(body) });
    }));
  });

  test("is read as the generated code reads it, or refused, when it is damaged", () => {
    fc.assert(
      fc.property(fc.oneof(nearly(bytes), fc.uint8Array()), (body) => {
        const message = decode(type, body, 7);
        if (message) expect(message).toEqual({ kind: "command", command: expected(body) });
      }),
      { numRuns: 2000 },
    );
  });
});

describe.each([5, 6, 7])("a suspension of version %s", (version) => {
  const { type } = messages.suspension;
  const kind = version >= 7 ? messages.suspensionV7 : messages.suspension;
  const bytes = messages.encoded(kind);

  function awaiting(body: Uint8Array) {
    const message = decode(type, body, version);
    if (message?.kind === "suspension") return message.awaiting;
    expect(message).toBeUndefined();
    return undefined;
  }

  test("waits for what the generated code says", () => {
    fc.assert(fc.property(bytes, (body) => {
      expect(awaiting(body)).toEqual(suspensionOracle(body, version));
    }));
  });

  test("is merged as the generated code merges it", () => {
    fc.assert(fc.property(twice(bytes), (body) => {
      expect(awaiting(body)).toEqual(suspensionOracle(body, version));
    }));
  });

  test("is read as the generated code reads it, or refused, when it is damaged", () => {
    fc.assert(
      fc.property(fc.oneof(nearly(bytes), fc.uint8Array()), (body) => {
        const got = awaiting(body);
        const expected = told(() => suspensionOracle(body, version));
        // What becomes of empty combinators has a test of its own.
        if (got && expected && hasEmptyOnes(expected)) return;
        if (got) expect(got).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });
});

test("repeated numbers may come unpacked", () => {
  expect(decode(1, Uint8Array.of(0x08, 1, 0x08, 2, 0x10, 3), 6)).toEqual({
    kind: "suspension",
    awaiting: { kind: "unknown", completions: [1, 2], signals: [3], names: [] },
  });
});
