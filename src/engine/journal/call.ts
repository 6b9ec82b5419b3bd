import type { CallRequest, Command } from "../../model/command.ts";
import { newInvocationId } from "../../model/id.ts";
import { placeAt } from "../../model/ring.ts";
import type { InvocationDraft } from "../../model/invocation.ts";
import { entryType } from "../../model/journal.ts";
import type { Invoked } from "../../model/message.ts";
import type { HandlerSchema, ServiceSchema } from "../../model/schema.ts";
import { handlerIn, retentionOf } from "../../model/schema.ts";
import { printTarget, type Target } from "../../model/target.ts";
import { childTrace } from "../../model/trace.ts";
import { deliver } from "../outbox.ts";
import type { Turn } from "../turn.ts";
import { admissionOf } from "./admission.ts";
import type { FramePosition, Refusal } from "./frames_received.ts";
import { append } from "./notification.ts";

type Call = Command & { kind: "call" };
type OneWayCall = Command & { kind: "oneWayCall" };

/** Runs another handler and awaits its result (docs/spec/service-protocol.md#calls). */
export function call(
  turn: Turn,
  draft: InvocationDraft,
  frame: Call,
  position: FramePosition,
): Refusal | undefined {
  const invoked = callee(turn, draft, frame.request, position);
  if ("code" in invoked) return invoked;
  append(turn, draft, { kind: "command", type: entryType.call, bytes: frame.bytes });
  notifyOfId(turn, draft, frame.invocationIdCompletion, invoked.id);
  const { completion } = frame;
  const { id, createdAt: since } = draft;
  const caller = { id, completion, type: entryType.callCompletion, since };
  deliver(turn, { ...invoked, caller });
  return undefined;
}

/** Sends to another handler, now or later, without awaiting its result. */
export function oneWayCall(
  turn: Turn,
  draft: InvocationDraft,
  frame: OneWayCall,
  position: FramePosition,
): Refusal | undefined {
  const invoked = callee(turn, draft, frame.request, position);
  if ("code" in invoked) return invoked;
  append(turn, draft, { kind: "command", type: entryType.oneWayCall, bytes: frame.bytes });
  notifyOfId(turn, draft, frame.invocationIdCompletion, invoked.id);
  deliver(turn, frame.startAt > turn.now ? { ...invoked, startAt: frame.startAt } : invoked);
  return undefined;
}

function notifyOfId(turn: Turn, draft: InvocationDraft, completion: number, id: string): void {
  append(turn, draft, {
    kind: "notification",
    type: entryType.callInvocationIdCompletion,
    id: { kind: "completion", id: completion },
    result: { kind: "invocationId", id },
  });
}

/**
 * The invocation that a command requests, or the reason why it is refused
 * (docs/spec/service-protocol.md#refused-commands).
 */
function callee(
  turn: Turn,
  draft: InvocationDraft,
  request: CallRequest,
  { event, number }: FramePosition,
): Invoked | Refusal {
  const service = turn.schema.latest(request.service);
  const handler = service && handlerIn(service, request.handler);
  if (!service || !handler) return unknown(request, service !== undefined);
  if (service.type === "service" && request.key !== "") {
    return { code: "RT0017", message: `the service '${service.name}' takes no key` };
  }
  if (request.idempotencyKey === "") {
    return { code: "RT0017", message: "the idempotency key must not be empty" };
  }
  const admission = admissionOf(request, service, turn.schema.defaults.flowControl);
  if ("code" in admission) return admission;
  const { scope, limitKey, priority } = admission;
  const target = targetOf(service, handler, { key: request.key, scope });
  const identity = {
    ...target,
    isWorkflowRun: target.access === "run",
    ...(request.idempotencyKey === undefined ? {} : { idempotencyKey: request.idempotencyKey }),
  };
  const entropy = entropyOf(event.entropy, number);
  return {
    type: "invoked",
    ...newInvocationId(identity, entropy, turn.now, placeAt(turn.range, entropy, turn.now)),
    target,
    headers: request.headers,
    value: request.value,
    origin: { by: "service", id: draft.id, target: printTarget(draft.target) },
    retention: retentionOf(turn.schema.options(service, handler), identity),
    ...(draft.trace && { trace: childTrace(draft.trace, draft.id) }),
    ...(request.idempotencyKey === undefined ? {} : { idempotencyKey: request.idempotencyKey }),
    ...(limitKey === undefined ? {} : { limitKey }),
    ...(priority === undefined ? {} : { priority }),
  };
}

function targetOf(
  service: ServiceSchema,
  handler: HandlerSchema,
  { key, scope }: { readonly key: string; readonly scope: string | undefined },
): Target {
  const { name, type } = service;
  const head = { service: name, handler: handler.name, type, access: handler.access };
  const keyed = type === "service" ? head : { ...head, key };
  return scope === undefined ? keyed : { ...keyed, scope };
}

function unknown({ service, handler }: CallRequest, isServiceKnown: boolean): Refusal {
  const message = isServiceKnown
    ? `the service '${service}' exists, but the handler '${handler}' was not found`
    : `the service '${service}' was not found`;
  return { code: "RT0018", message };
}

/** Different bytes for each command of one event. */
function entropyOf(entropy: Uint8Array, number: number): Uint8Array {
  if (number === 0) return entropy;
  const own = entropy.slice();
  for (let i = 0, left = number; left > 0; i++, left >>>= 8) own[i] = (own[i] ?? 0) ^ (left & 0xff);
  // The last byte spreads unkeyed invocations over partitions.
  own[15] = ((own[15] ?? 0) + number) & 0xff;
  return own;
}
