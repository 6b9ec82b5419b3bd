import { assert } from "../assert.ts";
import { Failure } from "../errors.ts";
import { type InvocationIdentity, newInvocationId } from "../model/id.ts";
import type { Retention } from "../model/invocation.ts";
import type { HeaderPair } from "../model/journal.ts";
import { placeAt } from "../model/ring.ts";
import {
  handlerIn,
  type HandlerSchema,
  isPublic,
  retentionOf,
  type Schema,
  type ServiceSchema,
} from "../model/schema.ts";
import type { Target } from "../model/target.ts";
import { parseTrace, type Trace } from "../model/trace.ts";
import { OWN } from "../names.ts";
import type { RequestSpan } from "../observe/tracer.ts";
import type { InvocationRequest } from "../ports.ts";
import { readBody } from "./body.ts";
import { checkContentType, handlerHeaders, idempotencyKeyOf } from "./headers.ts";
import type { Inbound, Setup } from "./inbound.ts";
import { checkInput } from "./input_rules.ts";
import type { InvokeRoute } from "./path.ts";
import { readQuery } from "./query.ts";
import { admitScope, limitKeyOf, priorityOf } from "./scope.ts";

/** A call or send that passed every check but one: whether it may have a delay. */
export interface Checked {
  readonly service: ServiceSchema;
  readonly handler: HandlerSchema;
  readonly key: string | undefined;
  readonly scope: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** In canonical form. */
  readonly limitKey: string | undefined;
  /** Undefined: the default one. */
  readonly priority: number | undefined;
  readonly headers: readonly HeaderPair[];
  readonly value: Uint8Array;
  readonly delayMs: number | undefined;
  /** The caller's trace, or one that begins here. */
  readonly trace: Trace | undefined;
  readonly span: RequestSpan | undefined;
}

const ENTROPY_BYTES = 16;

/**
 * Checks a call or send and reads its body. The order is part of the interface: it decides which
 * error a request with several faults gets (docs/spec/ingress.md#order-of-checks). Throws `Failure`
 * 400 to 500.
 */
export async function check(
  setup: Setup,
  inbound: Inbound,
  route: InvokeRoute,
): Promise<Checked> {
  const { head, method, schema } = inbound;
  const { service, handler } = find(schema, route);
  const idempotencyKey = idempotencyKeyOf(head);
  if (idempotencyKey !== undefined && handler.access === "run") throw idempotentRun();
  const { key, scope } = route;
  if (scope !== undefined) admitScope(scope, service.type, schema.defaults.flowControl);
  if (method !== "POST" && method !== "GET") throw Failure.plain(405, "method not allowed");
  const value = await readBody(setup, inbound);
  checkContentType(head);
  checkInput(handler.input, head.contentType, value.length === 0);
  const query = readQuery(inbound.search);
  const limitKey = limitKeyOf(head, query, scope);
  const priority = priorityOf(head, query);
  const dialect = schema.deployments.get(service.deployment)?.dialect ?? OWN;
  const pairs = handlerHeaders(head, dialect, inbound.target);
  const headers = setup.headers.apply(pairs, { metadata: service.metadata, handler });
  const brought = parseTrace(head.traceparent, head.tracestate);
  const span = setup.tracer?.request(brought);
  const trace = span ? span.trace : brought;
  return {
    service,
    handler,
    key,
    scope,
    idempotencyKey,
    limitKey,
    priority,
    headers,
    value,
    delayMs: query.delayMs,
    trace,
    span,
  };
}

/**
 * The request to the partitions. Workflow runs and requests with an idempotency key get an id
 * that is the same each time (docs/spec/ingress.md#idempotency).
 */
export function toRequest(setup: Setup, schema: Schema, checked: Checked): InvocationRequest {
  const { idempotencyKey, limitKey, priority, headers, value, delayMs } = checked;
  const now = setup.now();
  const entropy = setup.random(ENTROPY_BYTES);
  const place = placeAt(setup.partitionChoice, entropy, now);
  const { id, fresh } = newInvocationId(identity(checked), entropy, now, place);
  // Optional fields are assigned, not spread: spreading costs more than all checks together.
  const request: Writable<InvocationRequest> = {
    id,
    fresh,
    target: target(checked),
    headers,
    value,
    origin: INGRESS,
    retention: retention(schema, checked),
  };
  if (idempotencyKey !== undefined) request.idempotencyKey = idempotencyKey;
  if (limitKey !== undefined) request.limitKey = limitKey;
  if (priority !== undefined) request.priority = priority;
  if (checked.trace) request.trace = checked.trace;
  if (delayMs !== undefined) request.startAt = now + delayMs;
  return request;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const INGRESS = { by: "ingress" } as const;

function identity({ service, handler, key, scope, idempotencyKey }: Checked): InvocationIdentity {
  const identity: Writable<InvocationIdentity> = {
    service: service.name,
    handler: handler.name,
    isWorkflowRun: handler.access === "run",
  };
  if (key !== undefined) identity.key = key;
  if (scope !== undefined) identity.scope = scope;
  if (idempotencyKey !== undefined) identity.idempotencyKey = idempotencyKey;
  return identity;
}

/** The targets without a key and a scope: one for each handler. */
const plainTargets = new WeakMap<HandlerSchema, Target>();

/** Equal targets are one object where that is cheap: what is derived from a target is kept by it. */
function target(checked: Checked): Target {
  const { handler, key, scope } = checked;
  if (key !== undefined || scope !== undefined) return newTarget(checked);
  let target = plainTargets.get(handler);
  if (!target) plainTargets.set(handler, target = newTarget(checked));
  return target;
}

function newTarget({ service, handler, key, scope }: Checked): Target {
  const { type } = service;
  const { access } = handler;
  const target: Writable<Target> = key === undefined
    ? { service: service.name, handler: handler.name, type, access }
    : { service: service.name, handler: handler.name, key, type, access };
  if (scope !== undefined) target.scope = scope;
  return target;
}

/**
 * How long the result is kept to answer a repeat, and the journal to be inspected
 * (docs/spec/service-protocol.md#effective-options).
 */
function retention(schema: Schema, { service, handler, idempotencyKey }: Checked): Retention {
  const isWorkflowRun = handler.access === "run";
  return retentionOf(schema.options(service, handler), { isWorkflowRun, idempotencyKey });
}

function find(
  schema: Schema,
  route: InvokeRoute,
): { readonly service: ServiceSchema; readonly handler: HandlerSchema } {
  const service = schema.latest(route.service);
  assert(service, "A path is parsed with the services of this same snapshot");
  const handler = handlerIn(service, route.handler);
  if (!handler) {
    throw Failure.plain(
      404,
      `the service '${service.name}' exists, but the handler '${route.handler}' was not found, ` +
        "check that the handler exists in the latest registered service version.",
    );
  }
  if (!isPublic(service, handler)) {
    throw Failure.plain(400, "the invoked service is not public");
  }
  return { service, handler };
}

function idempotentRun(): Failure {
  return Failure.plain(
    400,
    "cannot use the idempotency key with workflow handlers. The handler invocation will already " +
      "be idempotent by the workflow key itself.",
  );
}
