import { fromBinary } from "@bufbuild/protobuf";
import { bench, describe } from "vitest";
import type { Entry } from "../../src/model/journal.ts";
import { decodeMessage } from "../../src/wire/decode.ts";
import { encodeFrame, FrameReader } from "../../src/wire/frame.ts";
import * as pb from "../../src/wire/gen/service_pb.ts";
import { encodeEntry, encodeReplay } from "../../src/wire/journal_codec.ts";
import { bytesOf, concat, utf8 } from "./_bytes.ts";

// What one message costs, against the library where both can read it. `npx vitest bench test/wire`.

const call = bytesOf(`0a 07 "Counter"  12 09 "increment"  1a 08 "{^s^:30}"  2a 05 "key-1"
  50 01  58 02`.replaceAll("^", "'"));
const hot = [
  ["OutputCommand", 0x0401, pb.OutputCommandSchema, bytesOf("72 05 0a 03 22 62 22")],
  ["ProposeRunCompletion", 0x0005, pb.ProposeRunCompletionSchema, bytesOf("08 01 72 01 31")],
  ["RunCommand", 0x0411, pb.RunCommandSchema, bytesOf("58 01 62 03 62 6c 6b")],
  ["Suspension", 0x0001, pb.SuspensionSchema, bytesOf("0a 01 01 12 01 01")],
  [
    "GetEagerStateCommand",
    0x0407,
    pb.GetEagerStateCommandSchema,
    bytesOf('0a 01 "v" 72 03 0a 01 "3"'),
  ],
  ["SetStateCommand", 0x0403, pb.SetStateCommandSchema, bytesOf('0a 01 "v" 1a 03 0a 01 "7"')],
  ["CallCommand", 0x040d, pb.CallCommandSchema, call],
] as const;

describe.each(hot)("%s", (_name, type, schema, body) => {
  bench("ours", () => {
    decodeMessage(type, 0, body, 6);
  });
  bench("library, without conversion", () => {
    fromBinary(schema, body);
  });
});

describe("others", () => {
  const sleep = bytesOf("08 9e 9a d8 cd 9f 34 58 01");
  bench("SleepCommand", () => {
    decodeMessage(0x040c, 0, sleep, 6);
  });
  bench("End", () => {
    decodeMessage(0x0003, 0, new Uint8Array(), 6);
  });
});

describe("frames", () => {
  const chunk = concat(hot.map(([, type, , body]) => encodeFrame(type, body)));
  bench("seven frames in one chunk", () => {
    new FrameReader(2 ** 25).push(chunk, () => {});
  });
});

describe("encoding", () => {
  const start = {
    id: "inv_1jFjS51tG8og6I6nyIrKMPWvEntzfHMOMo",
    idBytes: new Uint8Array(24).fill(7),
    state: [{ name: "v", value: utf8("3") }],
    partialState: false,
    key: "k7",
    retryCount: 0,
    sinceLastEntryMs: 1,
    randomSeed: new Uint8Array(8).fill(9),
  };
  const input: Entry = {
    kind: "input",
    headers: [["content-type", "application/json"], ["accept", "*/*"], ["user-agent", "node"]],
    value: utf8('{"ms":50}'),
  };
  const ran: Entry = {
    kind: "notification",
    type: 0x8011,
    id: { kind: "completion", id: 1 },
    result: { kind: "value", value: utf8("1") },
  };
  const run: Entry = { kind: "command", type: 0x0411, bytes: bytesOf("58 01 62 03 62 6c 6b") };
  const journal = [input, ...Array.from({ length: 50 }, () => [run, ran]).flat()];
  bench("Start and input", () => {
    encodeReplay(start, [input]);
  });
  bench("Start, input, 50 runs", () => {
    encodeReplay(start, journal);
  });
  bench("a notification", () => {
    encodeEntry(ran);
  });
});
