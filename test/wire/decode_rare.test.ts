import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { Failure } from "../../src/errors.ts";
import { printAwakeableId } from "../../src/model/awakeable.ts";
import type { Command, Subject } from "../../src/model/command.ts";
import { entryType } from "../../src/model/journal.ts";
import { decodeMessage } from "../../src/wire/decode.ts";
import * as pb from "../../src/wire/gen/service_pb.ts";
import { bytesOf, utf8 } from "./_bytes.ts";

// Commands on promises, signals and other invocations.

const id = "inv_1jFjS51tG8og6I6nyIrKMPWvEntzfHMOMo";
const legacy = printAwakeableId(id, 3).replace("sign", "prom");

function encode<T extends DescMessage>(schema: T, contents: MessageInitShape<T>): Uint8Array {
  return toBinary(schema, create(schema, contents));
}

/** The command without its bytes, or why it is refused. */
function decode(type: number, bytes: Uint8Array, version = 7): unknown {
  try {
    const message = decodeMessage(type, 0, bytes, version);
    if (message.kind !== "command") throw new Error(message.kind);
    const { bytes: kept, ...rest } = message.command as Extract<Command, { bytes: Uint8Array }>;
    expect(kept).toEqual(bytes);
    expect(kept.buffer).not.toBe(bytes.buffer);
    return rest;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

const value = { content: utf8("7") };
const failure = { code: 70_000, message: "no", metadata: [{ key: "k", value: "v" }] };
const failed = { code: 500, message: "no", metadata: [["k", "v"]] };

test("promises are read and peeked at by name", () => {
  const body = bytesOf('0a 01 "p" 58 07 62 01 "n"');
  expect([entryType.getPromise, entryType.peekPromise].map((type) => decode(type, body))).toEqual([
    { kind: "getPromise", key: "p", completion: 7 },
    { kind: "peekPromise", key: "p", completion: 7 },
  ]);
});

test.each(
  [
    [{ case: "completionValue", value }, { kind: "value", value: utf8("7") }],
    [{ case: "completionValue", value: {} }, { kind: "value", value: utf8("") }],
    [{ case: "completionFailure", value: failure }, { kind: "failure", failure: failed }],
    [
      { case: "completionFailure", value: { code: 409 } },
      { kind: "failure", failure: { code: 409, message: "" } },
    ],
  ] as const,
)("a promise is completed with %o", (completion, result) => {
  const contents = { key: "p", completion, resultCompletionId: 7 };
  const body = encode(pb.CompletePromiseCommandSchema, contents as never);
  expect(decode(entryType.completePromise, body))
    .toEqual({ kind: "completePromise", key: "p", result, completion: 7 });
});

const signals = [
  [{ case: "idx", value: 0 }, { kind: "signal", index: 0 }],
  [{ case: "idx", value: 0xffffffff }, { kind: "signal", index: 0xffffffff }],
  [{ case: "name", value: "go" }, { kind: "named", name: "go" }],
  [{ case: "name", value: "" }, { kind: "named", name: "" }],
] as const;
const results = [
  [{ case: "void", value: {} }, { kind: "void" }],
  [{ case: "value", value }, { kind: "value", value: utf8("7") }],
  [{ case: "failure", value: failure }, { kind: "failure", failure: failed }],
] as const;

test("a signal has an index or a name, and any result", () => {
  for (const [signalId, expectedId] of signals) {
    for (const [result, expectedResult] of results) {
      const contents = { targetInvocationId: id, signalId, result, entryName: "n" };
      const signal = { target: id, id: expectedId, result: expectedResult };
      expect(decode(entryType.sendSignal, encode(pb.SendSignalCommandSchema, contents as never)))
        .toEqual({ kind: "sendSignal", signal });
    }
  }
});

const cannotSend = "[RT0012] Cannot decode SendSignalCommand (0x0410): ";

test.each([
  ["", 'bad invocation id "": bad length'],
  ["foo", 'bad invocation id "foo": bad format'],
  ["inv_2foo", 'bad invocation id "inv_2foo": unrecognized codec version'],
  ["dp_1foo", `bad invocation id "dp_1foo": id doesn't match the expected type`],
  ["x".repeat(5000), `bad invocation id "${"x".repeat(100)}…": bad format`],
])("a signal for %s is refused", (targetInvocationId, why) => {
  const [signalId, result] = [{ case: "idx", value: 1 }, { case: "void", value: {} }] as const;
  const contents = { targetInvocationId, signalId, result };
  expect(decode(entryType.sendSignal, encode(pb.SendSignalCommandSchema, contents)))
    .toBe(cannotSend + why);
});

test("a signal without a result is refused", () => {
  const contents = { targetInvocationId: id, signalId: { case: "idx", value: 1 } } as const;
  expect(decode(entryType.sendSignal, encode(pb.SendSignalCommandSchema, contents)))
    .toBe(`${cannotSend}it has no result`);
});

test.each([results[1], results[2]])("an awakeable is completed with %o", (result, expected) => {
  const contents = { awakeableId: printAwakeableId(id, 17), result };
  const signal = { target: id, id: { kind: "signal", index: 17 }, result: expected };
  const body = encode(pb.CompleteAwakeableCommandSchema, contents as never);
  expect(decode(entryType.completeAwakeable, body)).toEqual({ kind: "completeAwakeable", signal });
});

test("an awakeable of the oldest protocols is nobody's", () => {
  const contents = { awakeableId: legacy, result: { case: "value", value } } as const;
  const body = encode(pb.CompleteAwakeableCommandSchema, contents);
  expect(decode(entryType.completeAwakeable, body)).toEqual({ kind: "completeAwakeable" });
});

test.each([
  ["foo", 'bad awakeable id "foo": bad format'],
  [id, `bad awakeable id "${id}": id doesn't match the expected type`],
  [`${legacy}x`, `bad awakeable id "${legacy}x": bad length`],
])("awakeable %s is refused", (awakeableId, why) => {
  const contents = { awakeableId, result: { case: "value", value } } as const;
  expect(decode(entryType.completeAwakeable, encode(pb.CompleteAwakeableCommandSchema, contents)))
    .toBe(`[RT0012] Cannot decode CompleteAwakeableCommand (0x0414): ${why}`);
});

type Target = MessageInitShape<typeof pb.AttachInvocationCommandSchema>["target"];

/** Both commands that have a subject, and what they have in common. */
function ask(target: Target, version = 7): unknown {
  const contents = { target, resultCompletionId: 7, name: "n" };
  const attach = decode(
    entryType.attach,
    encode(pb.AttachInvocationCommandSchema, contents as never),
    version,
  );
  const output = decode(
    entryType.getOutput,
    encode(pb.GetInvocationOutputCommandSchema, contents as never),
    version,
  );
  if (typeof attach === "string") {
    expect(output).toBe(attach);
    return attach;
  }
  expect(output).toEqual({ ...(attach as object), kind: "getOutput" });
  expect(attach).toMatchObject({ kind: "attach", completion: 7 });
  return (attach as { subject: Subject }).subject;
}

const request = { serviceName: "S", handlerName: "h", idempotencyKey: "i" };
const asked = { by: "idempotencyKey", service: "S", handler: "h", idempotencyKey: "i" };

test("results are asked for by invocation, workflow or idempotency key", () => {
  expect(ask({ case: "invocationId", value: id })).toEqual({ by: "invocation", id });
  const workflow = { workflowName: "W", workflowKey: "k" };
  expect(ask({ case: "workflowTarget", value: workflow }))
    .toEqual({ by: "workflow", service: "W", key: "k" });
  const by = "idempotentRequestTarget";
  expect(ask({ case: by, value: request })).toEqual(asked);
  expect(ask({ case: by, value: { ...request, serviceKey: "k" } })).toEqual({ ...asked, key: "k" });
  expect(ask({ case: by, value: { ...request, serviceKey: "" } })).toEqual({ ...asked, key: "" });
  // No call has such a key, which is for the answer to say.
  expect(ask({ case: by, value: { ...request, idempotencyKey: "" } }))
    .toEqual({ ...asked, idempotencyKey: "" });
});

const cannotAsk = "Cannot ask for the result of an invocation: ";

test("an invocation that there cannot be is refused, without a doubt of the protocol", () => {
  expect(ask({ case: "invocationId", value: "foo" }))
    .toBe(`[RT0017] ${cannotAsk}bad invocation id "foo": bad format`);
  expect(ask({ case: "invocationId", value: "" }))
    .toBe(`[RT0017] ${cannotAsk}bad invocation id "": bad length`);
});

test("results may be asked for in a scope, if it can be one", () => {
  const workflow = { by: "workflow", service: "W", key: "" };
  const inScope = (scope: string, version: number) => [
    ask({ case: "workflowTarget", value: { workflowName: "W", scope } }, version),
    ask({ case: "idempotentRequestTarget", value: { ...request, scope } }, version),
  ];
  for (const version of [6, 7]) {
    for (const scope of ["s", "A-z_0.9", "x".repeat(36)]) {
      expect(inScope(scope, version)).toEqual([{ ...workflow, scope }, { ...asked, scope }]);
    }
    const charset = "value contains characters outside the allowed set [a-zA-Z0-9_.-]";
    for (
      const [scope, why] of [
        ["", "value cannot be empty"],
        ["a/b", charset],
        ["é", charset],
        ["x".repeat(37), "value too long: 37 bytes (max 36)"],
      ] as const
    ) {
      const refused = `[RT0024] ${cannotAsk}the provided scope '${scope}' is invalid: ${why}`;
      expect(inScope(scope, version)).toEqual([refused, refused]);
    }
  }
});
