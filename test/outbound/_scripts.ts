import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { controlType } from "../../src/wire/message_type.ts";
import {
  CallCommandSchema,
  EndSchema,
  ErrorSchema,
  FutureSchema,
  OutputCommandSchema,
  ProposeRunCompletionSchema,
  RunCommandSchema,
  SleepCommandSchema,
  SuspensionSchema,
  SuspensionV7Schema,
} from "../../src/wire/gen/service_pb.ts";
import { type Entry, entryType } from "../../src/model/journal.ts";
import { encodeFrame, FrameReader, REQUESTED_ACK } from "../../src/wire/frame.ts";
import { frame } from "./_attempts.ts";

/** Frames that fake endpoints send. */
export const say = {
  output: (text: string) =>
    frame(entryType.output, OutputCommandSchema, {
      result: { case: "value", value: { content: new TextEncoder().encode(text) } },
    }),
  run: (completion: number, name = "") =>
    frame(entryType.run, RunCommandSchema, { resultCompletionId: completion, name }),
  ranTo: (completion: number, text: string) =>
    frame(controlType.proposeRunCompletion, ProposeRunCompletionSchema, {
      resultCompletionId: completion,
      result: { case: "value", value: new TextEncoder().encode(text) },
    }),
  /**
   * As an SDK of version 7 proposes a result: it asks for an acknowledgement instead of a
   * notification.
   */
  proposed: (completion: number, text: string) =>
    encodeFrame(
      controlType.proposeRunCompletion,
      toBinary(
        ProposeRunCompletionSchema,
        create(ProposeRunCompletionSchema, {
          resultCompletionId: completion,
          result: { case: "value", value: new TextEncoder().encode(text) },
        }),
      ),
      REQUESTED_ACK,
    ),
  sleep: (completion: number) => say.sleepUntil(completion, 1000),
  sleepUntil: (completion: number, at: number) =>
    frame(entryType.sleep, SleepCommandSchema, {
      resultCompletionId: completion,
      wakeUpTime: BigInt(at),
    }),
  call: (first: number) =>
    frame(entryType.call, CallCommandSchema, {
      serviceName: "Svc",
      handlerName: "run",
      invocationIdCompletionId: first,
      resultCompletionId: first + 1,
    }),
  suspend: (...completions: number[]) =>
    frame(controlType.suspension, SuspensionSchema, { waitingCompletions: completions }),
  /** Version 7: futures nested to this depth. */
  suspendDeep: (depth: number) => {
    let future: MessageInitShape<typeof FutureSchema> = { waitingCompletions: [1] };
    for (let i = 1; i < depth; i++) future = { nestedFutures: [future] };
    return frame(controlType.suspension, SuspensionV7Schema, { awaitingOn: future });
  },
  error: (value: Parameters<typeof frame<typeof ErrorSchema>>[2]) =>
    frame(controlType.error, ErrorSchema, value),
  end: () => frame(controlType.end, EndSchema, {}),
};

/** A notification that a sleep is over. */
export function slept(completion: number): Entry {
  return {
    kind: "notification",
    type: entryType.sleepCompletion,
    id: { kind: "completion", id: completion },
    result: { kind: "void" },
  };
}

/** A notification that a run has its result. */
export function ran(completion: number, text: string): Entry {
  return {
    kind: "notification",
    type: entryType.runCompletion,
    id: { kind: "completion", id: completion },
    result: { kind: "value", value: new TextEncoder().encode(text) },
  };
}

/** Reads frames, and keeps their types and bodies. */
export class Frames {
  readonly types: number[] = [];
  readonly bodies: Uint8Array[] = [];
  readonly #reader = new FrameReader(64 * 1024 * 1024);

  push(chunk: Uint8Array): void {
    this.#reader.push(chunk, (type, _, body) => {
      this.types.push(type);
      this.bodies.push(new Uint8Array(body));
    });
  }
}
