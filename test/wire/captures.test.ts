import { describe, expect, test } from "vitest";
import type { Entry } from "../../src/model/journal.ts";
import { entryType } from "../../src/model/journal.ts";
import { parseInvocationId } from "../../src/model/id.ts";
import { decodeMessage, type Message } from "../../src/wire/decode.ts";
import { encodeEntry, encodeReplay, encodeRunAck } from "../../src/wire/journal_codec.ts";
import type { Start } from "../../src/wire/journal_codec.ts";
import { bytesOf, framesOf, utf8 } from "./_bytes.ts";

// What the reference server and the TypeScript SDK said.

/** What the SDK's frames mean, at this protocol version. */
function messagesOf(version: number, frames: string): Message[] {
  return framesOf(bytesOf(frames)).map(({ type, flags, body }) =>
    decodeMessage(type, flags, body, version)
  );
}

function start(id: string, rest: Omit<Start, "id" | "idBytes" | "retryCount">): Start {
  return { id, idBytes: parseInvocationId(id), retryCount: 0, ...rest };
}

function seedOf(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value);
  return bytes;
}

const valueOf = (text: string) => ({ kind: "value", value: utf8(text) }) as const;

describe("A.1 an object handler with eager state", () => {
  const input: Entry = {
    kind: "input",
    headers: [
      ["x-restate-ingress-path", "/Obj/k7/add"],
      ["user-agent", "curl/7.88.1"],
      ["accept", "*/*"],
      ["content-type", "application/json"],
      ["content-length", "1"],
    ],
    value: utf8("4"),
  };
  const inputFrame = `04 00  00 00  00 00 00 8d
    0a 25  0a 16 "x-restate-ingress-path"  12 0b "/Obj/k7/add"
    0a 19  0a 0a "user-agent"              12 0b "curl/7.88.1"
    0a 0d  0a 06 "accept"                  12 03 "*/*"
    0a 20  0a 0c "content-type"            12 10 "application/json"
    0a 13  0a 0e "content-length"          12 01 "1"
    72 03  0a 01 34`;

  test("Start and the replay are the reference's bytes, in one piece", () => {
    const first = start("inv_1jFjS51tG8og6I6nyIrKMPWvEntzfHMOMo", {
      state: [{ name: "v", value: utf8("3") }],
      partialState: false,
      key: "k7",
      sinceLastEntryMs: 1,
      randomSeed: seedOf(9282139960677054851n),
    });
    expect(encodeReplay(first, [input])).toEqual([bytesOf(`
      00 00  00 00  00 00 00 5d
      0a 18 a0cbceafab4211e5 109b13d2e3a65969 0b3f7133897083dc
      12 26 "inv_1jFjS51tG8og6I6nyIrKMPWvEntzfHMOMo"
      18 01
      22 06  0a 01 76  12 01 33
      32 02 6b 37
      40 01
      48 83f3f4bcd8a3b2e88001
      ${inputFrame}`)]);
  });

  test("the SDK's frames are understood", () => {
    expect(messagesOf(
      6,
      `
      04 07  00 00  00 00 00 08   0a 01 76   72 03 0a 01 33
      04 03  00 00  00 00 00 08   0a 01 76   1a 03 0a 01 37
      04 01  00 00  00 00 00 05   72 03 0a 01 37
      00 03  00 00  00 00 00 00`,
    )).toEqual([
      {
        kind: "command",
        command: { kind: "getEagerState", bytes: bytesOf("0a 01 76 72 03 0a 01 33") },
      },
      {
        kind: "command",
        command: {
          kind: "setState",
          bytes: bytesOf("0a 01 76 1a 03 0a 01 37"),
          key: "v",
          value: utf8("7"),
        },
      },
      {
        kind: "command",
        command: {
          kind: "output",
          bytes: bytesOf("72 03 0a 01 37"),
          result: { kind: "value", value: utf8("7") },
        },
      },
      { kind: "end" },
    ]);
  });
});

describe("A.2 a run in request-response mode", () => {
  const id = "inv_1eH3sj5yqaAQ1FNw2bXEaS1Gy3dAuRowSJ";
  const seed = seedOf(12372924562147520799n);
  const run: Entry = {
    kind: "command",
    type: entryType.run,
    bytes: bytesOf("58 01 62 03 62 6c 6b"),
  };
  const ran: Entry = {
    kind: "notification",
    type: entryType.runCompletion,
    id: { kind: "completion", id: 1 },
    result: { kind: "value", value: utf8("1") },
  };
  const input: Entry = { kind: "input", headers: [], value: utf8('{"ms":50}') };
  // The capture leaves the headers of its input out, and so do we.
  const inputFrame = `04 00 00 00 00 00 00 0d  72 0b 0a 09 7b226d73223a35307d`;

  test.each([[1, [input]], [2, [input, run, ran]]] as const)("attempt %s", (attempt, entries) => {
    const rest = { partialState: true, key: "", sinceLastEntryMs: attempt, randomSeed: seed };
    const replay = attempt === 1 ? "" : `
      04 11  00 00  00 00 00 07   58 01   62 03 62 6c 6b
      80 11  00 00  00 00 00 07   08 01   2a 03 0a 01 31`;
    expect(encodeReplay(start(id, rest), entries)).toEqual([bytesOf(`
      00 00  00 00  00 00 00 53
      0a 18 84cdcd450ac327ab 11d664238c45c894 d51dcbe8d70d0237
      12 26 "inv_1eH3sj5yqaAQ1FNw2bXEaS1Gy3dAuRowSJ"
      18 0${attempt === 1 ? 1 : 3}
      28 01
      40 0${attempt}
      48 9fe288fcdaaadddaab01
      ${inputFrame}${replay}`)]);
  });

  test("the SDK's frames are understood", () => {
    expect(messagesOf(
      6,
      `
      04 11  00 00  00 00 00 07   58 01   62 03 62 6c 6b
      00 05  00 00  00 00 00 05   08 01   72 01 31
      00 01  00 00  00 00 00 06   0a 01 01   12 01 01
      04 01  00 00  00 00 00 07   72 05 0a 03 22 62 22`,
    )).toEqual([
      { kind: "command", command: { kind: "run", bytes: run.bytes, completion: 1 } },
      {
        kind: "command",
        command: { kind: "runCompletion", completion: 1, result: valueOf("1") },
      },
      {
        kind: "suspension",
        awaiting: { kind: "unknown", completions: [1], signals: [1], names: [] },
      },
      {
        kind: "command",
        command: {
          kind: "output",
          bytes: bytesOf("72 05 0a 03 22 62 22"),
          result: { kind: "value", value: utf8('"b"') },
        },
      },
    ]);
  });
});

describe("A.3 a canceled call", () => {
  const callee = "inv_1au7ffKIwfHR1Jk8h11VRKTJZaXeXPZo77";

  test("the SDK's frames are understood", () => {
    expect(messagesOf(
      6,
      `
      04 0d  00 00  00 00 00 1e
        0a 03 "Svc"  12 09 "longsleep"  1a 08 7b 22 73 22 3a 33 30 7d  50 01  58 02
      04 01  00 00  00 00 00 10   7a 0e   08 99 03   12 09 "Cancelled"`,
    )).toMatchObject([
      {
        command: {
          kind: "call",
          invocationIdCompletion: 1,
          completion: 2,
          request: {
            service: "Svc",
            handler: "longsleep",
            key: "",
            headers: [],
            value: utf8('{"s":30}'),
          },
        },
      },
      { command: { result: { kind: "failure", failure: { code: 409, message: "Cancelled" } } } },
    ]);
  });

  test("notifications are the reference's bytes", () => {
    const told: Entry = {
      kind: "notification",
      type: entryType.callInvocationIdCompletion,
      id: { kind: "completion", id: 1 },
      result: { kind: "invocationId", id: callee },
    };
    const canceled: Entry = {
      kind: "notification",
      type: entryType.signal,
      id: { kind: "signal", index: 1 },
      result: { kind: "void" },
    };
    const toldFrame = `80 0e 00 00 00 00 00 2b 08 01 82 01 26 "${callee}"`;
    expect(encodeEntry(told)).toEqual(bytesOf(toldFrame));
    expect(encodeEntry(canceled)).toEqual(bytesOf("fb ff 00 00 00 00 00 04 10 01 22 00"));
  });

  test("the SDK cancels the calls it made", () => {
    const signal = { target: callee, id: { kind: "signal", index: 1 }, result: { kind: "void" } };
    expect(messagesOf(6, `04 10 00 00 00 00 00 2c 0a 26 "${callee}" 10 01 22 00`))
      .toMatchObject([{ command: { kind: "sendSignal", signal } }]);
  });
});

test("A.4 runs with acknowledgements, and what is awaited meanwhile", () => {
  expect(messagesOf(
    7,
    `
    04 11  00 00  00 00 00 06   58 02   62 02 72 32
    00 05  80 00  00 00 00 05   08 01   72 01 31
    00 06  00 00  00 00 00 0e
      0a 0c  12 01 01  22 05  0a 01 02  28 04  28 01
    04 01  00 00  00 00 00 09   72 07 0a 05 5b 31 2c 32 5d
    00 03  00 00  00 00 00 00`,
  )).toMatchObject([
    { command: { kind: "run", completion: 2 } },
    { command: { kind: "runCompletion", completion: 1, wantsAck: true } },
    { kind: "awaitingOn" },
    { command: { kind: "output", result: { value: utf8("[1,2]") } } },
    { kind: "end" },
  ]);
});

test("A.4 the acknowledgement of a run is the reference's bytes", () => {
  expect(encodeRunAck(1)).toEqual(bytesOf("00 07  00 00  00 00 00 02   08 01"));
});

test("A.5 an awakeable with a timeout is a tree", () => {
  const [sleep, suspension] = messagesOf(
    7,
    `
    04 0c  00 00  00 00 00 09   08 9e 9a d8 cd 9f 34   58 01
    00 01  00 00  00 00 00 0f
      22 0d  12 01 01  22 06  0a 01 01  12 01 11  28 01`,
  );
  expect(sleep).toMatchObject({
    command: { kind: "sleep", wakeAt: 1795190820126, completion: 1 },
  });
  expect(suspension).toEqual({
    kind: "suspension",
    awaiting: {
      kind: "first",
      completions: [],
      signals: [1],
      names: [],
      nested: [{ kind: "unknown", completions: [1], signals: [17], names: [] }],
    },
  });
});

test("A.5 the completion of a sleep is the reference's bytes", () => {
  expect(encodeEntry({
    kind: "notification",
    type: entryType.sleepCompletion,
    id: { kind: "completion", id: 1 },
    result: { kind: "void" },
  })).toEqual(bytesOf("80 0c 00 00 00 00 00 04 08 01 22 00"));
});

test("A.6 an error that says when to come back", () => {
  expect(messagesOf(
    6,
    `00 02 00 00 00 00 00 10
    08 f4 03  12 05 "later"  1a 01 "s"  40 bc 05`,
  )).toEqual([{
    kind: "error",
    failure: { status: 500, message: "later", stacktrace: "s" },
    nextRetryDelayMs: 700,
  }]);
});

test("A.6 a journal mismatch that must not be tried again", () => {
  const frame = `00 02 00 00 00 00 00 0d
    08 ba 04  12 01 "m"  20 01  30 8e 08  48 02`;
  const failure = { status: 570, message: "m", related: { index: 1, type: 1038 } };
  expect(messagesOf(7, frame)).toEqual([{ kind: "error", failure, behavior: "fail" }]);
  // Version 6 did not know the field, but the reference heeds it.
  expect(messagesOf(6, frame)).toEqual([{ kind: "error", failure, behavior: "fail" }]);
});
