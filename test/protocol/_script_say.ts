import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { entryType } from "../../src/model/journal.ts";
import { encodeFrame } from "../../src/wire/frame.ts";
import * as pb from "../../src/wire/gen/service_pb.ts";
import { controlType, printMessageType } from "../../src/wire/message_type.ts";

/** A message as it is on the wire: what scripts hear. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly body: Uint8Array;
}

const utf8 = new TextEncoder();
const text = new TextDecoder();

/** A frame of any kind, well-formed or not. */
export function frame<M extends DescMessage>(
  type: number,
  schema: M,
  { flags = 0, ...contents }: MessageInitShape<M> & { readonly flags?: number },
): Uint8Array {
  const message = create(schema, contents as unknown as MessageInitShape<M>);
  return encodeFrame(type, toBinary(schema, message), flags);
}

type Contents<M extends DescMessage> = Exclude<MessageInitShape<M>, { $typeName: string }>;

const valueOf = (content: string) => ({ case: "value", value: { content: utf8.encode(content) } });
const failureOf = (code: number, message: string) => ({
  case: "failure",
  value: { code, message },
});

/** Whose handler a call asks for. `key` for objects. */
export interface Callee {
  readonly service: string;
  readonly handler: string;
  readonly key?: string;
  readonly input?: string;
  readonly scope?: string;
  readonly limitKey?: string;
  readonly headers?: { readonly key: string; readonly value: string }[];
}

/** Every message an endpoint may send, in few words. Numbers are completion ids. */
export const say = {
  output: (value: string) =>
    frame(entryType.output, pb.OutputCommandSchema, { result: valueOf(value) } as never),
  fail: (code: number, message: string) =>
    frame(entryType.output, pb.OutputCommandSchema, { result: failureOf(code, message) } as never),
  end: () => frame(controlType.end, pb.EndSchema, {}),
  error: (contents: Contents<typeof pb.ErrorSchema>) =>
    frame(controlType.error, pb.ErrorSchema, contents),
  /** Versions 5 and 6. */
  suspend: (contents: Contents<typeof pb.SuspensionSchema>) =>
    frame(controlType.suspension, pb.SuspensionSchema, contents),
  /** Version 7. */
  suspendOn: (awaitingOn: Contents<typeof pb.FutureSchema>) =>
    frame(controlType.suspension, pb.SuspensionV7Schema, { awaitingOn }),
  run: (resultCompletionId: number) =>
    frame(entryType.run, pb.RunCommandSchema, { resultCompletionId, name: "step" }),
  ranTo: (resultCompletionId: number, value: string, flags = 0) =>
    frame(controlType.proposeRunCompletion, pb.ProposeRunCompletionSchema, {
      resultCompletionId,
      result: { case: "value", value: utf8.encode(value) },
      flags,
    }),
  sleep: (resultCompletionId: number, wakeUpTime: number) =>
    frame(entryType.sleep, pb.SleepCommandSchema, {
      resultCompletionId,
      wakeUpTime: BigInt(wakeUpTime),
    }),
  set: (key: string, value: string) =>
    frame(entryType.setState, pb.SetStateCommandSchema, {
      key: utf8.encode(key),
      value: { content: utf8.encode(value) },
    }),
  clear: (key: string) =>
    frame(entryType.clearState, pb.ClearStateCommandSchema, { key: utf8.encode(key) }),
  /** Takes two ids: of the invocation id first, then of the result. */
  call: (first: number, { service, handler, key = "", input = "", ...more }: Callee) =>
    frame(entryType.call, pb.CallCommandSchema, {
      serviceName: service,
      handlerName: handler,
      key,
      parameter: utf8.encode(input),
      ...more,
      invocationIdCompletionId: first,
      resultCompletionId: first + 1,
    }),
};

export function join(...frames: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(frames));
}

export function startOf({ body }: Frame): pb.Start {
  return fromBinary(pb.StartSchema, body);
}

/** `SleepCompletion 1`, `RunCompletion 2 "x"`, `Run 1`, `Input`: enough to tell entries apart. */
export function print({ type, body }: Frame): string {
  const name = printMessageType(type).replace(/(Command)? \(.*$/, "");
  if (type === controlType.proposeRunCompletionAck) {
    return `${name} ${fromBinary(pb.ProposeRunCompletionAckSchema, body).completionId}`;
  }
  if (type < 0x0400) return name;
  return [name, ...(type < 0x8000 ? commandWords(body) : notificationWords(body))].join(" ");
}

/** Field 11 is the same in all commands that have it. */
function commandWords(body: Uint8Array): unknown[] {
  const { resultCompletionId } = fromBinary(pb.RunCommandSchema, body);
  return resultCompletionId === 0 ? [] : [resultCompletionId];
}

function notificationWords(body: Uint8Array): unknown[] {
  const { id, result } = fromBinary(pb.NotificationSchema, body);
  switch (result.case) {
    case "value":
      return [id.value, JSON.stringify(text.decode(result.value.content))];
    case "failure":
      return [id.value, result.value.code, JSON.stringify(result.value.message)];
    case "invocationId":
      return [id.value, "inv"];
    default:
      return [id.value];
  }
}
