import type { MessageInitShape } from "@bufbuild/protobuf";
import { entryType } from "../../src/model/journal.ts";
import {
  AttachInvocationCommandSchema,
  GetInvocationOutputCommandSchema,
} from "../../src/wire/gen/service_pb.ts";
import { frame } from "./_script_say.ts";

/** What such a command is about. */
export type Subject = MessageInitShape<typeof GetInvocationOutputCommandSchema>["target"];

/** The frame of a command that asks for the output of an invocation, if it has one. */
export const output = (resultCompletionId: number, target: Subject) =>
  frame(entryType.getOutput, GetInvocationOutputCommandSchema, {
    resultCompletionId,
    target,
  } as never);

/** The frame of a command that waits for the output of an invocation. */
export const attach = (resultCompletionId: number, target: Subject) =>
  frame(entryType.attach, AttachInvocationCommandSchema, {
    resultCompletionId,
    target,
  } as never);
