import { assert } from "../assert.ts";
import { Failure } from "../errors.ts";
import { type InvocationIdentity, newInvocationId } from "../model/id.ts";
import type { Retention } from "../model/invocation.ts";
import type { HeaderPair } from "../model/journal.ts";
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
import {
  checkContentType,
  checkLimitKeyHeader,
  handlerHeaders,
  type Head,
  idempotencyKeyOf,
} from "./headers.ts";
import type { Inbound, Setup } from "./inbound.ts";
import { checkInput } from "./input_rules.ts";
import type { InvokeRoute } from "./path.ts";
import { type Query, readQuery } from "./query.ts";
import { checkLimitKey, checkScope } from "./scope.ts";

/** A call or send that passed every check but one: whether it may have a delay. */
export interface Checked {
  readonly service: ServiceSchema;
  readonly handler: HandlerSchema;
  readonly key: string | undefined;
  readonly idempotencyKey: string | undefined;
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
  if (route.scope !== undefined) refuseScope(route.scope);
  if (method !== "POST" && method !== "GET") throw Failure.plain(405, "method not allowed");
  const value = await readBody(setup, inbound);
  checkContentType(head);
  checkInput(handler.input, head.contentType, value.length === 0);
  const query = readQuery(inbound.search);
  refuseLimitKey(head, query);
  const dialect = schema.deployments.get(service.deployment)?.dialect ?? OWN;
  const headers = handlerHeaders(head, dialect, inbound.target);
  const { key } = route;
  const brought = parseTrace(head.traceparent, head.tracestate);
  const span = setup.tracer?.request(brought);
  const trace = span ? span.trace : brought;
  const { delayMs } = query;
  return { service, handler, key, idempotencyKey, headers, value, delayMs, trace, span };
}

/**
 * The request to the partitions. Workflow runs and requests with an idempotency key get an id
 * that is the same each time (docs/spec/ingress.md#idempotency).
 */
export function toRequest(setup: Setup, schema: Schema, checked: Checked): InvocationRequest {
  const { idempotencyKey, headers, value, delayMs } = checked;
  const now = setup.now();
  const { id, fresh } = newInvocationId(identity(checked), setup.random(ENTROPY_BYTES), now);
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
  if (checked.trace) request.trace = checked.trace;
  if (delayMs !== undefined) request.startAt = now + delayMs;
  return request;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const INGRESS = { by: "ingress" } as const;

function identity({ service, handler, key, idempotencyKey }: Checked): InvocationIdentity {
  const identity: Writable<InvocationIdentity> = {
    service: service.name,
    handler: handler.name,
    isWorkflowRun: handler.access === "run",
  };
  if (key !== undefined) identity.key = key;
  if (idempotencyKey !== undefined) identity.idempotencyKey = idempotencyKey;
  return identity;
}

function target({ service, handler, key }: Checked): Target {
  const { type } = service;
  const { access } = handler;
  return key === undefined
    ? { service: service.name, handler: handler.name, type, access }
    : { service: service.name, handler: handler.name, key, type, access };
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

/** Flow control is experimental and off, but a scope is checked all the same. */
function refuseScope(scope: string): never {
  checkScope(scope);
  throw Failure.plain(400, "scoped invocations require vqueues to be enabled");
}

/**
 * The header takes precedence over the query (docs/spec/ingress.md#scopes). A limit key needs a
 * scope, and a request with a scope has been refused before.
 */
function refuseLimitKey(head: Head, query: Query): void {
  checkLimitKeyHeader(head);
  const limitKey = head.limitKey ?? head.aliasLimitKey ?? query.limitKey ?? "";
  if (limitKey === "") return;
  checkLimitKey(limitKey);
  throw Failure.plain(400, "limit-key requires a scope to be set");
}
