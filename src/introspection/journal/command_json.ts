import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { entryType } from "../../model/journal.ts";
import * as gen from "../../wire/gen/service_pb.ts";
import { readBody } from "../../wire/generated_reader.ts";
import { type Callees, callJson, oneWayCallJson } from "./call_json.ts";
import { bytesJson, type Json, readResultJson, textOf } from "./parts.ts";

/** A command's fields as they are shown, in the order of the reference, and its name. */
export interface CommandJson {
  readonly fields: { readonly [name: string]: Json };
  readonly name: string;
}

type Read = (bytes: Uint8Array, lite: boolean, callees: Callees) => CommandJson;

/** A reader that gets the message read by the generated code. */
function reading<T extends DescMessage>(
  schema: T,
  fields: (message: MessageShape<T>, lite: boolean, callees: Callees) => CommandJson["fields"],
): Read {
  return (bytes, lite, callees) => {
    const message = readBody(schema, bytes);
    const { name, entryName } = message as { readonly name?: unknown; readonly entryName?: string };
    const own = entryName ?? (typeof name === "string" ? name : "");
    return { fields: fields(message, lite, callees), name: own };
  };
}

const keyed = (schema: typeof gen.GetPromiseCommandSchema | typeof gen.PeekPromiseCommandSchema) =>
  reading(schema, ({ key, resultCompletionId }) => ({ key, completion_id: resultCompletionId }));

const asking = (
  schema: typeof gen.AttachInvocationCommandSchema | typeof gen.GetInvocationOutputCommandSchema,
) =>
  reading(schema, ({ target, resultCompletionId }) => ({
    target: subjectJson(target),
    completion_id: resultCompletionId,
  }));

/** The commands of docs/spec/service-protocol.md#commands, by type. */
const READERS: Readonly<Record<number, Read>> = {
  [entryType.output]: reading(gen.OutputCommandSchema, ({ result }, lite) => ({
    result: readResultJson(result, lite),
  })),
  [entryType.getLazyState]: reading(
    gen.GetLazyStateCommandSchema,
    ({ key, resultCompletionId }) => ({ key: textOf(key), completion_id: resultCompletionId }),
  ),
  [entryType.setState]: reading(gen.SetStateCommandSchema, ({ key, value }, lite) => ({
    key: textOf(key),
    ...(!lite && { value: bytesJson(value?.content ?? new Uint8Array()) }),
  })),
  [entryType.clearState]: reading(gen.ClearStateCommandSchema, ({ key }) => ({ key: textOf(key) })),
  [entryType.clearAllState]: reading(gen.ClearAllStateCommandSchema, () => ({})),
  [entryType.getLazyStateKeys]: reading(
    gen.GetLazyStateKeysCommandSchema,
    ({ resultCompletionId }) => ({ completion_id: resultCompletionId }),
  ),
  [entryType.getEagerState]: reading(gen.GetEagerStateCommandSchema, ({ key, result }, lite) => ({
    key: textOf(key),
    result: readResultJson(result, lite),
  })),
  [entryType.getEagerStateKeys]: reading(
    gen.GetEagerStateKeysCommandSchema,
    ({ value }, lite) => lite ? {} : { state_keys: value?.keys.map(textOf) ?? [] },
  ),
  [entryType.getPromise]: keyed(gen.GetPromiseCommandSchema),
  [entryType.peekPromise]: keyed(gen.PeekPromiseCommandSchema),
  [entryType.completePromise]: reading(
    gen.CompletePromiseCommandSchema,
    ({ key, completion, resultCompletionId }, lite) => ({
      key,
      ...(!lite && { value: readResultJson(completion, lite) }),
      completion_id: resultCompletionId,
    }),
  ),
  [entryType.sleep]: reading(gen.SleepCommandSchema, ({ wakeUpTime, resultCompletionId }) => ({
    wake_up_time: Number(wakeUpTime),
    completion_id: resultCompletionId,
  })),
  [entryType.call]: reading(gen.CallCommandSchema, callJson),
  [entryType.oneWayCall]: reading(gen.OneWayCallCommandSchema, oneWayCallJson),
  [entryType.sendSignal]: (bytes, lite) => {
    const message = readBody(gen.SendSignalCommandSchema, bytes);
    const { targetInvocationId, signalId, result, entryName: name } = message;
    const id: Json = signalId.case === "name"
      ? { Name: signalId.value }
      : { Index: signalId.value ?? 0 };
    const shown = readResultJson(result, lite);
    return {
      fields: { target_invocation_id: targetInvocationId, signal_id: id, result: shown },
      name,
    };
  },
  [entryType.run]: reading(gen.RunCommandSchema, ({ resultCompletionId }) => ({
    completion_id: resultCompletionId,
  })),
  [entryType.attach]: asking(gen.AttachInvocationCommandSchema),
  [entryType.getOutput]: asking(gen.GetInvocationOutputCommandSchema),
  [entryType.completeAwakeable]: reading(
    gen.CompleteAwakeableCommandSchema,
    ({ awakeableId, result }, lite) => ({ id: awakeableId, result: readResultJson(result, lite) }),
  ),
};

/**
 * The fields of a command. `lite`: without payloads and headers. Undefined for a type that is no
 * command's. Throws what the generated code throws when `bytes` are not what they should be.
 */
export function commandJson(
  { type, bytes }: { readonly type: number; readonly bytes: Uint8Array },
  lite: boolean,
  callees: Callees,
): CommandJson | undefined {
  return READERS[type]?.(bytes, lite, callees);
}

function subjectJson(target: gen.AttachInvocationCommand["target"]): Json {
  switch (target.case) {
    case "invocationId":
      return { InvocationId: target.value };
    case "workflowTarget":
      return {
        Workflow: {
          scope: target.value.scope ?? null,
          service_name: target.value.workflowName,
          key: target.value.workflowKey,
        },
      };
    case "idempotentRequestTarget":
      return {
        IdempotentRequest: {
          scope: target.value.scope ?? null,
          service_name: target.value.serviceName,
          service_key: target.value.serviceKey ?? null,
          service_handler: target.value.handlerName,
          idempotency_key: target.value.idempotencyKey,
        },
      };
    default:
      return null;
  }
}
