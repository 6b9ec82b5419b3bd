import { printDuration } from "../model/duration.ts";
import type { IdentityToken } from "../model/endpoint_credentials.ts";
import {
  clampRetentions,
  type Deployment,
  type HandlerSchema,
  type InputRule,
  isPublic,
  type OutputRule,
  type RetryOptions,
  type Schema,
  type SchemaDefaults,
  type ServiceSchema,
} from "../model/schema.ts";
import type { Controls } from "../model/limits.ts";
import type { Access, ServiceType } from "../model/target.ts";
import { jsonInSteps } from "../slices.ts";
import { infoOf } from "./info.ts";
import { limitsRecord } from "./limits_body.ts";

type Json = Readonly<Record<string, unknown>>;

/** Types of services as clients know them (docs/spec/admin.md#services). */
export const SERVICE_TYPES: Readonly<Record<ServiceType, string>> = {
  service: "Service",
  virtual_object: "VirtualObject",
  workflow: "Workflow",
};

/** A plain service's handlers have no type (docs/spec/admin.md#services). */
const HANDLER_TYPES: Readonly<Record<Access, string | undefined>> = {
  none: undefined,
  exclusive: "Exclusive",
  shared: "Shared",
  run: "Workflow",
};

const POLICIES = { pause: "Pause", kill: "Kill" } as const;

/** What records are made of beside deployments: defaults and limits, and what is limited and paused. */
type Setting = Pick<Schema, "defaults" | "controls">;

/** A deployment as `GET /deployments` lists it (docs/spec/admin.md#registration-of-deployments). */
export function deploymentRecord(deployment: Deployment, { controls }: Setting): Json {
  return {
    ...address(deployment),
    ...protocol(deployment),
    services: deployment.services.map(({ name, revision }) => ({ name, revision })),
    paused: isPaused(deployment, controls),
  };
}

/** True, or left out. */
function isPaused({ id }: Deployment, { pausedDeployments }: Controls): true | undefined {
  return pausedDeployments.has(id) || undefined;
}

/**
 * JSON of a deployment as `GET /deployments/{id}` answers it: its services in full
 * (docs/spec/admin.md#registration-of-deployments).
 */
export function detailedDeploymentJson(
  deployment: Deployment,
  setting: Setting,
): Generator<void, string> {
  const services = lazyServices(deployment, setting);
  const paused = isPaused(deployment, setting.controls);
  return jsonInSteps(
    { ...address(deployment), ...protocol(deployment), services, ...(paused && { paused }) },
    HANDLER_DEPTH,
  );
}

/** JSON of what `POST /deployments` answers (docs/spec/admin.md#registration-of-deployments). */
export function registrationJson(
  deployment: Deployment,
  setting: Setting,
): Generator<void, string> {
  const services = lazyServices(deployment, setting);
  return jsonInSteps({ id: deployment.id, services, ...protocol(deployment) }, HANDLER_DEPTH);
}

/**
 * One revision of a service, with what is in effect for its handlers (docs/spec/admin.md#services).
 */
export function serviceRecord(
  service: ServiceSchema,
  deployment: Deployment,
  setting: Setting,
): Json {
  const record = lazyService(service, deployment, setting);
  return { ...record, handlers: [...record.handlers] };
}

/** The same, with handlers that are made when they are asked for. */
function lazyService(
  service: ServiceSchema,
  deployment: Deployment,
  { defaults, controls }: Setting,
): Json & { readonly handlers: Iterable<Json> } {
  const { options } = service;
  const { limits } = defaults;
  const control = controls.services.get(service.name);
  const effective = { ...defaults, ...options };
  const wanted = { ...effective, workflowRetentionMs: workflowRetention(service, defaults) };
  const granted = clampRetentions(wanted, limits);
  return {
    name: service.name,
    ty: SERVICE_TYPES[service.type],
    handlers: lazyHandlers(service, deployment, { defaults, controls }),
    documentation: service.documentation,
    metadata: unlessEmpty(service.metadata),
    deployment_id: deployment.id,
    revision: service.revision,
    public: service.public,
    idempotency_retention: printDuration(granted.idempotencyRetentionMs),
    workflow_completion_retention: isWorkflow(service)
      ? printDuration(granted.workflowRetentionMs)
      : undefined,
    journal_retention: printDuration(granted.journalRetentionMs),
    inactivity_timeout: printDuration(
      deployment.mode === "bidi" ? effective.inactivityTimeoutMs : 0,
    ),
    abort_timeout: printDuration(effective.abortTimeoutMs),
    enable_lazy_state: options.lazyState ?? false,
    retry_policy: retryRecord({ ...defaults.retry, ...options.retry }),
    info: infoOf(options, isWorkflow(service) ? wanted : { ...wanted, workflowRetentionMs: 0 }, {
      mode: deployment.mode,
      what: "service",
      limits,
    }),
    ...limitsRecord(control?.limits),
    paused: control?.paused,
  };
}

/** All handlers of a service, in the order of its manifest. */
export function handlerRecords(
  service: ServiceSchema,
  deployment: Deployment,
  schema: Setting,
): Json[] {
  return [...lazyHandlers(service, deployment, schema)];
}

function* lazyHandlers(
  service: ServiceSchema,
  deployment: Deployment,
  schema: Setting,
): Generator<Json> {
  const place = { service, deployment, schema };
  for (const one of Object.values(service.handlers)) yield handlerRecord(one, place);
}

/**
 * A handler, with the options it sets itself: what it inherits is its service's
 * (docs/spec/admin.md#services).
 */
export function handlerRecord(
  handler: HandlerSchema,
  { service, deployment, schema: { defaults, controls } }: {
    readonly service: ServiceSchema;
    readonly deployment: Deployment;
    readonly schema: Setting;
  },
): Json {
  const { limits = {} } = defaults;
  const { handlers = {} } = controls.services.get(service.name) ?? {};
  const { options, input, output } = handler;
  const { mode } = deployment;
  const { idempotencyRetentionMs: resultMs, journalRetentionMs: journalMs } = options;
  return {
    name: handler.name,
    ty: HANDLER_TYPES[handler.access],
    documentation: handler.documentation,
    metadata: unlessEmpty(handler.metadata),
    idempotency_retention: duration(resultMs, limits.idempotencyRetentionMsMax),
    journal_retention: duration(journalMs, limits.journalRetentionMsMax),
    inactivity_timeout: mode === "bidi" ? duration(options.inactivityTimeoutMs) : undefined,
    abort_timeout: duration(options.abortTimeoutMs),
    enable_lazy_state: options.lazyState,
    public: isPublic(service, handler),
    input_description: describeInput(input),
    output_description: describeOutput(output),
    input_json_schema: schemaOf(input),
    output_json_schema: schemaOf(output),
    retry_policy: retryRecord(options.retry ?? {}),
    // How long a workflow's result is kept is shown, and so remarked on, with its service.
    info: infoOf(options, { ...options, workflowRetentionMs: 0 }, {
      mode,
      what: "handler",
      limits,
    }),
    ...limitsRecord(Object.hasOwn(handlers, handler.name) ? handlers[handler.name] : undefined),
  };
}

/** Levels from a deployment to a handler: services, each of them, its handlers. */
const HANDLER_DEPTH = 4;

function* lazyServices(deployment: Deployment, setting: Setting): Generator<Json> {
  for (const one of deployment.services) yield lazyService(one, deployment, setting);
}

function address({ id, uri, lambda, mode, httpVersion, ...rest }: Deployment): Json {
  const ofEndpoint = {
    uri,
    protocol_type: mode === "bidi" ? "BidiStream" : "RequestResponse",
    http_version: httpVersion,
  };
  return {
    id,
    ...(lambda ? { arn: uri, assume_role_arn: lambda.assumeRoleArn } : ofEndpoint),
    additional_headers: unlessEmpty(rest.additionalHeaders),
    auth: rest.identityToken && authRecord(rest.identityToken),
    metadata: unlessEmpty(rest.metadata),
    created_at: printInstant(rest.createdAt),
  };
}

/** In the form in which it is asked for (`deployment_auth.ts`). */
function authRecord({ issuer, audience, header }: IdentityToken): Json {
  return { [issuer === "google" ? "GoogleIdToken" : "ServerIdToken"]: { audience, header } };
}

function protocol({ minProtocol, maxProtocol, sdkVersion }: Deployment): Json {
  return {
    min_protocol_version: minProtocol,
    max_protocol_version: maxProtocol,
    sdk_version: sdkVersion,
  };
}

/** RFC 3339 with nine digits, as clients know it. `ms`: milliseconds since the epoch. */
export function printInstant(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000000Z");
}

function duration(ms: number | undefined, msMax = Infinity): string | undefined {
  return ms === undefined ? undefined : printDuration(Math.min(ms, msMax));
}

function unlessEmpty(record: Readonly<Record<string, unknown>> | undefined): Json | undefined {
  return record && Object.keys(record).length > 0 ? record : undefined;
}

function isWorkflow({ type }: ServiceSchema): boolean {
  return type === "workflow";
}

/** A workflow shows what its run handler sets; of several, the last one wins. */
function workflowRetention(service: ServiceSchema, defaults: SchemaDefaults): number {
  const own = Object.values(service.handlers).findLast(({ access }) => access === "run")?.options;
  return own?.workflowRetentionMs ?? service.options.workflowRetentionMs ??
    defaults.workflowRetentionMs;
}

/** `max_attempts` is always there: null says that it is inherited, or that there is no limit. */
function retryRecord(retry: RetryOptions): Json {
  const { maxAttempts = Infinity, onMaxAttempts } = retry;
  return {
    initial_interval: duration(retry.initialIntervalMs),
    exponentiation_factor: retry.factor,
    max_attempts: Number.isFinite(maxAttempts) ? maxAttempts : null,
    max_interval: duration(retry.maxIntervalMs),
    on_max_attempts: onMaxAttempts && POLICIES[onMaxAttempts],
  };
}

function describeInput(rule: InputRule | undefined): string {
  if (!rule) return "*/*";
  if (rule.contentType === undefined) return rule.required ? "<invalid rules>" : "none";
  return describeSchema(rule.jsonSchema) ?? rule.contentType;
}

function describeOutput(rule: OutputRule | undefined): string {
  if (!rule) return "application/json";
  if (rule.contentType === undefined) return "none";
  const optional = rule.setContentTypeIfEmpty ? "optional " : "";
  return describeSchema(rule.jsonSchema) ?? `${optional}${rule.contentType}`;
}

/** A schema's title, or else its type, when it has one that can be said in a word. */
function describeSchema(schema: unknown): string | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const { title, type } = schema as { readonly title?: unknown; readonly type?: unknown };
  if (typeof title === "string") return `JSON '${title}'`;
  return typeof type === "string" ? `JSON ${type}` : undefined;
}

/** Without a content type there is no body, so its schema says nothing; null is no schema. */
function schemaOf(rule: InputRule | OutputRule | undefined): unknown {
  return rule?.contentType === undefined ? undefined : rule.jsonSchema ?? undefined;
}
