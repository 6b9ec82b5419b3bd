import type { InvocationRow } from "../../model/invocation.ts";
import { readLimitKey } from "../../model/scope.ts";
import type { Access } from "../../model/target.ts";
import type { CallCommand, OneWayCallCommand } from "../../wire/gen/service_pb.ts";
import { bytesJson, headersJson, type Json } from "./parts.ts";

/** What is known of whom a journal calls. */
export interface Callees {
  /** The id that a call's first notification brought; undefined while it has not. */
  idOf(completion: number): string | undefined;
  /** Its row, when it is still there. */
  row(id: string): Pick<InvocationRow, "target" | "retention"> | undefined;
}

type Fields = { readonly [name: string]: Json };

/** What tracing would say of a call; nothing is traced here. */
const NO_SPAN = {
  span_context: {
    trace_id: new Array<number>(16).fill(0),
    span_id: new Array<number>(8).fill(0),
    trace_flags: 0,
    is_remote: false,
    trace_state: "",
  },
  cause: null,
} as const;

const HANDLER_TYPES: Readonly<Record<Access, string>> = {
  none: "Exclusive",
  exclusive: "Exclusive",
  shared: "Shared",
  run: "Workflow",
};

export function callJson(message: CallCommand, lite: boolean, callees: Callees): Fields {
  return {
    ...requestJson(message, lite, callees),
    invocation_id_completion_id: message.invocationIdCompletionId,
    result_completion_id: message.resultCompletionId,
  };
}

export function oneWayCallJson(
  message: OneWayCallCommand,
  lite: boolean,
  callees: Callees,
): Fields {
  return {
    ...requestJson(message, lite, callees),
    invoke_time: Number(message.invokeTime),
    invocation_id_completion_id: message.invocationIdCompletionId,
  };
}

function requestJson(
  message: CallCommand | OneWayCallCommand,
  lite: boolean,
  callees: Callees,
): Fields {
  const id = callees.idOf(message.invocationIdCompletionId);
  const row = id === undefined ? undefined : callees.row(id);
  const called = { invocation_id: id ?? null, invocation_target: targetJson(message, row) };
  if (lite) return called;
  return {
    request: {
      ...called,
      span_context: NO_SPAN,
      parameter: bytesJson(message.parameter),
      headers: headersJson(message.headers.map(({ key, value }) => [key, value])),
      idempotency_key: message.idempotencyKey ?? null,
      completion_retention_duration: durationJson(row?.retention.resultMs),
      journal_retention_duration: durationJson(row?.retention.journalMs),
      ...limitKeyJson(message.limitKey),
    },
  };
}

/** Without a slash at its end. An empty one is none. */
function limitKeyJson(limitKey: string | undefined): Fields {
  const read = readLimitKey(limitKey ?? "");
  return read && "limitKey" in read ? { limit_key: read.limitKey } : {};
}

/** A command does not say of what kind its callee is. Without its row, a key makes it an object. */
function targetJson(
  { serviceName: name, handlerName: handler, key, scope }: CallCommand | OneWayCallCommand,
  row: Pick<InvocationRow, "target"> | undefined,
): Json {
  const type = row?.target.type ?? (key === "" ? "service" : "virtual_object");
  const common = { name, handler, scope: scope || null };
  if (type === "service") return { Service: common };
  const handler_ty = HANDLER_TYPES[row?.target.access ?? "exclusive"];
  const keyed = { name, key, handler, handler_ty, scope: scope || null };
  return type === "workflow" ? { Workflow: keyed } : { VirtualObject: keyed };
}

function durationJson(ms: number | undefined): Json {
  if (ms === undefined) return null;
  return { secs: Math.floor(ms / 1000), nanos: (ms % 1000) * 1_000_000 };
}
