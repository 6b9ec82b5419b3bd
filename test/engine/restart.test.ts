import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { completionIdsOf } from "../../src/model/completion_ids.ts";
import {
  CallCommandSchema,
  OutputCommandSchema,
  RunCommandSchema,
  SetStateCommandSchema,
  SleepCommandSchema,
} from "../../src/wire/gen/service_pb.ts";

const bytes = new Uint8Array(300).fill(0x58);

test("the completions that commands ask for are found among all their fields", () => {
  const call = toBinary(
    CallCommandSchema,
    create(CallCommandSchema, {
      serviceName: "S",
      handlerName: "h",
      parameter: bytes,
      key: "k",
      headers: [{ key: "a", value: "b" }],
      invocationIdCompletionId: 300,
      resultCompletionId: 70_000,
      name: "x",
    }),
  );
  expect(completionIdsOf(call)).toEqual([300, 70_000]);
  const sleep = create(SleepCommandSchema, { wakeUpTime: 2n ** 53n, resultCompletionId: 3 });
  expect(completionIdsOf(toBinary(SleepCommandSchema, sleep))).toEqual([3]);
  const run = create(RunCommandSchema, { resultCompletionId: 0xffffffff, name: "r" });
  expect(completionIdsOf(toBinary(RunCommandSchema, run))).toEqual([0xffffffff]);
});

test("commands without a response ask for no completion", () => {
  const output = create(OutputCommandSchema, {
    result: { case: "value", value: { content: bytes } },
  });
  expect(completionIdsOf(toBinary(OutputCommandSchema, output))).toEqual([]);
  const set = create(SetStateCommandSchema, { key: bytes, value: { content: bytes } });
  expect(completionIdsOf(toBinary(SetStateCommandSchema, set))).toEqual([]);
  expect(completionIdsOf(new Uint8Array())).toEqual([]);
});
