import { controlType } from "../../src/wire/message_type.ts";
import {
  CallCommandSchema,
  EndSchema,
  ErrorSchema,
  OutputCommandSchema,
  ProposeRunCompletionSchema,
  RunCommandSchema,
  SleepCommandSchema,
  SuspensionSchema,
} from "../../src/wire/gen/service_pb.ts";
import { type Entry, entryType } from "../../src/model/journal.ts";
import { FrameReader } from "../../src/wire/frame.ts";
import { frame } from "./_attempts.ts";

/** What fake endpoints say. */
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
  sleep: (completion: number) =>
    frame(entryType.sleep, SleepCommandSchema, {
      resultCompletionId: completion,
      wakeUpTime: 1000n,
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
