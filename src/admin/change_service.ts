import { Failure } from "../errors.ts";
import type { HandlerOptions, HandlerSchema, ServiceSchema } from "../model/schema.ts";
import { SERVICE_TYPES } from "./records.ts";

/** What an operator changes about a service (docs/spec/admin.md#services). Absent: as it is. */
export interface ServiceChanges {
  readonly public?: boolean;
  /** As manifests have them: a handler that sets its own keeps it. */
  readonly options: Pick<
    HandlerOptions,
    "inactivityTimeoutMs" | "abortTimeoutMs" | "journalRetentionMs" | "idempotencyRetentionMs"
  >;
  /** Of workflows only. Replaces what their run handlers set, because only those have results. */
  readonly workflowRetentionMs?: number;
}

/**
 * A service with an operator's changes. It remembers what its manifest says, so that the endpoint
 * still counts as unchanged. Throws `Failure` 400 for a workflow's retention of anything else.
 */
export function changed(service: ServiceSchema, changes: ServiceChanges): ServiceSchema {
  const { workflowRetentionMs } = changes;
  const { announced, options, handlers } = service;
  const isNew = workflowRetentionMs !== undefined;
  if (isNew && service.type !== "workflow") {
    const type = SERVICE_TYPES[service.type];
    throw Failure.plain(400, `modifying retention time for service type ${type} is unsupported`);
  }
  return {
    ...service,
    public: changes.public ?? service.public,
    options: { ...options, ...changes.options },
    ...(isNew && { handlers: retaining(handlers, workflowRetentionMs) }),
    announced: { public: service.public, options, ...(isNew && { handlers }), ...announced },
  };
}

/** What `changed` can set of the options, by name. */
const CHANGEABLE = [
  "inactivityTimeoutMs",
  "abortTimeoutMs",
  "journalRetentionMs",
  "idempotencyRetentionMs",
] as const;

/** A service as it was announced, with the operator's changes of another revision of it, if any. */
export function changedAlike(
  service: ServiceSchema,
  model: ServiceSchema | undefined,
): ServiceSchema {
  const { announced } = model ?? {};
  if (!model || !announced) return service;
  const options = CHANGEABLE.flatMap((name) => {
    const value = model.options[name];
    return value === announced.options?.[name] ? [] : [[name, value]];
  });
  const run = Object.values(model.handlers).find(({ access }) => access === "run");
  const workflowRetentionMs = announced.handlers && run?.options.workflowRetentionMs;
  return changed(service, {
    ...(announced.public !== model.public && { public: model.public }),
    options: Object.fromEntries(options),
    ...(workflowRetentionMs !== undefined && { workflowRetentionMs }),
  });
}

function retaining(
  handlers: ServiceSchema["handlers"],
  workflowRetentionMs: number,
): ServiceSchema["handlers"] {
  const retain = (one: HandlerSchema): HandlerSchema =>
    one.access === "run" ? { ...one, options: { ...one.options, workflowRetentionMs } } : one;
  return Object.fromEntries(Object.entries(handlers).map(([name, one]) => [name, retain(one)]));
}
