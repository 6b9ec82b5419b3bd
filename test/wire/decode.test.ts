import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Failure } from "../../src/errors.ts";
import { decodeMessage } from "../../src/wire/decode.ts";
import * as pb from "../../src/wire/gen/service_pb.ts";
import { bytesOf, utf8 } from "./_bytes.ts";
import * as messages from "./_messages.ts";

const nothing = new Uint8Array();
const commands = [...messages.hotCommands, ...messages.others, ...messages.rareCommands];
const everyKind = [...commands, messages.suspension, messages.suspensionV7];
const version = fc.integer({ min: 5, max: 7 });

function refusal(type: number, body: Uint8Array, on = 6): string {
  try {
    decodeMessage(type, 0, body, on);
  } catch (error) {
    expect(error).toBeInstanceOf(Failure);
    return (error as Failure).message;
  }
  return "none";
}

test("any bytes of any type give a message or a Failure", () => {
  const known = fc.constantFrom(...everyKind.map(({ type }) => type));
  const type = fc.oneof(known, fc.integer({ min: 0, max: 0xffff }));
  fc.assert(
    fc.property(type, fc.nat(0xffff), fc.uint8Array(), version, (code, flags, body, on) => {
      try {
        expect(decodeMessage(code, flags, body, on)).toHaveProperty("kind");
      } catch (error) {
        expect(error).toBeInstanceOf(Failure);
      }
    }),
    { numRuns: 5000 },
  );
});

describe.each(everyKind)("message $schema.name", (kind) => {
  const version = versionOf(kind);

  test("is understood in every version", () => {
    fc.assert(fc.property(messages.encoded(kind), version, (body, on) => {
      expect(refusal(kind.type, body, on)).toBe("none");
    }));
  });

  test("is read the same with unknown fields around it", () => {
    // Numbers, fixed numbers, bytes and a group with a number in it: fields 20 to 24.
    const unknown = bytesOf("a0 01 05 a9 01 0102030405060708 b2 01 02 0102 bd 01 01020304");
    const group = bytesOf("c3 01 08 01 c4 01");
    fc.assert(fc.property(messages.encoded(kind), version, (body, on) => {
      const longer = Uint8Array.of(...unknown, ...body, ...group);
      const [plain, wrapped] = [body, longer].map((it) => decodeMessage(kind.type, 0, it, on));
      expect(withoutBytes(wrapped)).toEqual(withoutBytes(plain));
    }));
  });

  test("is refused when it is cut in the middle of a field", () => {
    const body = toBinary(pb.RunCommandSchema, create(pb.RunCommandSchema, { name: "name" }));
    expect(refusal(kind.type, body.subarray(0, -1))).toMatch(/^\[RT0012\] Cannot decode /);
  });
});

function versionOf(kind: messages.Kind): fc.Arbitrary<number> {
  if (kind === messages.suspensionV7) return fc.constant(7);
  return fc.integer({ min: 5, max: kind === messages.suspension ? 6 : 7 });
}

function withoutBytes(message: unknown): unknown {
  return JSON.parse(JSON.stringify(message, (name, value) => name === "bytes" ? undefined : value));
}

test.each([
  [0x0000, "Start (0x0000): it may only come from the server"],
  [0x0004, "CommandAck (0x0004): it may only come from the server"],
  [0x0007, "ProposeRunCompletionAck (0x0007): it may only come from the server"],
  [0x0400, "InputCommand (0x0400): it may only come from the server"],
  [0x8011, "RunCompletion (0x8011): it may only come from the server"],
  [0xfbff, "SignalNotification (0xfbff): it may only come from the server"],
  [0x040f, "message (0x040f): it is unknown"],
  [0x0050, "message (0x0050): it is unknown"],
  [0xfc00, "message (0xfc00): it is unknown"],
])("type %i is refused", (type, message) => {
  expect(refusal(type, nothing)).toBe(`[RT0012] Unexpected ${message}`);
});

test.each([
  [0x0401, "OutputCommand (0x0401): it has neither value nor failure"],
  [0x0005, "ProposeRunCompletion (0x0005): it has neither value nor failure"],
  [0x0407, "GetEagerStateCommand (0x0407): it has neither void nor value"],
  [0x0403, "SetStateCommand (0x0403): it has no value"],
  [0x0408, "GetEagerStateKeysCommand (0x0408): it has no value"],
  [0x040b, "CompletePromiseCommand (0x040b): it has neither value nor failure"],
  [0x0410, "SendSignalCommand (0x0410): it has neither index nor name"],
  [0x0412, "AttachInvocationCommand (0x0412): it has no target"],
  [0x0413, "GetInvocationOutputCommand (0x0413): it has no target"],
  [0x0414, "CompleteAwakeableCommand (0x0414): it has neither value nor failure"],
  [0x0001, "Suspension (0x0001): it awaits nothing"],
])("an empty message of type %i is refused", (type, message) => {
  expect(refusal(type, nothing)).toBe(`[RT0012] Cannot decode ${message}`);
});

test.each([
  ["a state key", 0x0403, "0a 02 c328 1a 00"],
  ["a state key read eagerly", 0x0407, "0a 02 c328 6a 00"],
  ["a state key read lazily", 0x0402, "0a 02 c328"],
  ["a cleared key", 0x0404, "0a 02 c328"],
  ["a listed key", 0x0408, "72 04 0a 02 c328"],
  ["a service name", 0x040d, "0a 02 c328"],
  ["an entry name", 0x0411, "62 02 c328"],
  ["a failure's message", 0x0401, "7a 04 12 02 c328"],
  ["an error's message", 0x0002, "12 02 c328"],
  ["a signal's name", 0x0001, "1a 02 c328"],
  ["a promise's name", 0x0409, "0a 02 c328"],
  ["a sent signal's name", 0x0410, "1a 02 c328"],
])("%s that is not UTF-8 is refused", (_what, type, body) => {
  expect(refusal(type, bytesOf(body))).toMatch(/^\[RT0012\] Cannot decode .*UTF-8/i);
});

test("a known field of another wire type is refused", () => {
  expect(refusal(0x0411, bytesOf("5a 01 01"))).toContain("field 11 has the wrong wire type");
});

test("codes beyond 16 bits become 500", () => {
  const failure = create(pb.FailureSchema, { code: 65536 });
  const output = create(pb.OutputCommandSchema, { result: { case: "failure", value: failure } });
  expect(decodeMessage(0x0401, 0, toBinary(pb.OutputCommandSchema, output), 6)).toMatchObject({
    command: { result: { failure: { code: 500 } } },
  });
  const error = create(pb.ErrorSchema, { code: 65536 });
  expect(decodeMessage(0x0002, 0, toBinary(pb.ErrorSchema, error), 6)).toMatchObject({
    failure: { status: 500 },
  });
});

test("times and delays beyond the calendar are brought back into it", () => {
  const max = 2n ** 64n - 1n;
  const sleep = toBinary(pb.SleepCommandSchema, create(pb.SleepCommandSchema, { wakeUpTime: max }));
  expect(decodeMessage(0x040c, 0, sleep, 6)).toMatchObject({ command: { wakeAt: 8.64e15 } });
  const error = toBinary(pb.ErrorSchema, create(pb.ErrorSchema, { nextRetryDelay: max }));
  expect(decodeMessage(0x0002, 0, error, 6)).toMatchObject({ nextRetryDelayMs: 4.32e15 });
});

test("what is kept of a message does not live in the chunk it came in", () => {
  const chunk = new Uint8Array(65536);
  chunk.set(bytesOf("0a 01 76 1a 03 0a 01 37"));
  for (const body of [chunk.subarray(0, 8), Buffer.from(chunk.buffer, 0, 8)]) {
    const message = decodeMessage(0x0403, 0, body, 6);
    if (message.kind !== "command" || message.command.kind !== "setState") throw message;
    const { bytes, value } = message.command;
    expect(bytes.buffer.byteLength).toBe(8);
    expect(value.buffer.byteLength).toBeLessThanOrEqual(8);
    chunk.fill(0, 0, 1);
    expect(bytes[0]).toBe(0x0a);
    chunk[0] = 0x0a;
  }
});

test("an optional text that is there is kept, even when it is empty", () => {
  const without = create(pb.CallCommandSchema, { serviceName: "S" });
  const withEmpty = create(pb.CallCommandSchema, { serviceName: "S", idempotencyKey: "" });
  const [absent, empty] = [without, withEmpty].map((it) =>
    decodeMessage(0x040d, 0, toBinary(pb.CallCommandSchema, it), 6)
  );
  expect(absent).not.toHaveProperty("command.request.idempotencyKey");
  expect(empty).toHaveProperty("command.request.idempotencyKey", "");
});

test("scopes and limit keys are read in every version, as they were sent", () => {
  const read = (contents: { scope?: string; limitKey?: string }, version: number) => {
    const call = create(pb.CallCommandSchema, contents);
    const send = create(pb.OneWayCallCommandSchema, contents);
    const messages = [
      decodeMessage(0x040d, 0, toBinary(pb.CallCommandSchema, call), version),
      decodeMessage(0x040e, 0, toBinary(pb.OneWayCallCommandSchema, send), version),
    ];
    return messages.map((message) => {
      if (message.kind !== "command" || !("request" in message.command)) throw message;
      const { scope, limitKey } = message.command.request;
      return { scope, limitKey };
    });
  };
  for (const version of [5, 6, 7]) {
    for (const contents of [{ scope: "a b", limitKey: "a/b/c" }, { scope: "", limitKey: "" }]) {
      expect(read(contents, version)).toEqual([contents, contents]);
    }
    const none = { scope: undefined, limitKey: undefined };
    expect(read({}, version)).toEqual([none, none]);
  }
});

test("an acknowledgement may be asked for of a run's result, and of any command", () => {
  const ran = bytesOf("08 01 72 01 31");
  expect(decodeMessage(5, 0x8000, ran, 7)).toHaveProperty("command.wantsAck", true);
  expect(decodeMessage(5, 0x7fff, ran, 7)).not.toHaveProperty("command.wantsAck");
  // Before version 7 there is no acknowledgement.
  expect(decodeMessage(5, 0x8000, ran, 6)).not.toHaveProperty("command.wantsAck");
  expect(decodeMessage(5, 0x8000, ran, 7)).not.toHaveProperty("wantsAck");
  for (const version of [5, 6, 7]) {
    const run = decodeMessage(0x0411, 0x8000, bytesOf("58 01"), version);
    expect(run).toMatchObject({ kind: "command", command: { kind: "run" }, wantsAck: true });
  }
  // All other flags mean nothing, and none does on what is no command.
  const run = decodeMessage(0x0411, 0x7fff, bytesOf("58 01"), 6);
  expect(run).toHaveProperty("command");
  expect(run).not.toHaveProperty("wantsAck");
  expect(decodeMessage(3, 0x8000, new Uint8Array(), 6)).toEqual({ kind: "end" });
});

test.each([
  ["", undefined],
  ["48 00", "retry"],
  ["48 01", "pause"],
  ["48 02", "fail"],
  ["48 03", "retry"],
])("an error's behavior %s is %s in every version", (behavior, expected) => {
  const body = bytesOf(`08 f4 03 ${behavior}`);
  const failure = { status: 500, message: "" };
  for (const version of [5, 6, 7]) {
    expect(decodeMessage(2, 0, body, version)).toEqual({
      kind: "error",
      failure,
      ...(expected !== undefined && { behavior: expected }),
    });
  }
});

test("the message of a failure names what could not be read", () => {
  expect(refusal(0x040c, utf8("\x08"))).toMatch(
    /^\[RT0012\] Cannot decode SleepCommand \(0x040c\): /,
  );
});
