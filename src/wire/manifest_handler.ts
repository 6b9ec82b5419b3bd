import { Failure } from "../errors.ts";
import type { HandlerSchema, InputRule, OutputRule } from "../model/schema.ts";
import type { Access } from "../model/target.ts";
import { schemaProblem } from "./json_schema.ts";
import { defined, handlerOptions } from "./manifest_options.ts";
import type { RawHandler, RawInput, RawOutput, RawService } from "./manifest_shape.ts";

/** What a handler without `output` answers with (docs/spec/service-protocol.md#manifests). */
const OUTPUT_DEFAULT: OutputRule = {
  contentType: "application/json",
  setContentTypeIfEmpty: false,
};

/**
 * A `service type × handler type` that does not exist is absent
 * (docs/spec/service-protocol.md#manifests).
 */
const access: Readonly<
  Record<RawService["ty"], Readonly<Partial<Record<NonNullable<RawHandler["ty"]> | "", Access>>>>
> = {
  SERVICE: { "": "none", SHARED: "none" },
  VIRTUAL_OBJECT: { "": "exclusive", EXCLUSIVE: "exclusive", SHARED: "shared" },
  WORKFLOW: { "": "shared", SHARED: "shared", WORKFLOW: "run" },
};

/**
 * One handler of a service (docs/spec/service-protocol.md#manifests). Throws `Failure` 400, naming
 * both, for types that do not go together, a retention its type does not have, a public handler in
 * a private service, an unreadable content type, a bad JSON schema
 * (docs/spec/admin.md#registration-of-deployments).
 */
export function parseHandler(raw: RawHandler, service: RawService): HandlerSchema {
  const owner = `handler '${service.name}/${raw.name}'`;
  const handlerAccess = access[service.ty][raw.ty ?? ""];
  if (!handlerAccess) refuse(owner, `a ${service.ty} cannot have ${raw.ty} handlers`);
  checkOptions(raw, { owner, service, access: handlerAccess });
  const { workflowCompletionRetention, input } = raw;
  return {
    name: raw.name,
    access: handlerAccess,
    public: raw.ingressPrivate !== true,
    ...(raw.ingressPrivate === false && { declaresPublic: true as const }),
    options: {
      ...handlerOptions(raw, owner),
      ...defined({ workflowRetentionMs: workflowCompletionRetention }),
    },
    ...(input && { input: parseInput(input, owner) }),
    output: raw.output ? parseOutput(raw.output, owner) : OUTPUT_DEFAULT,
    ...defined({ documentation: raw.documentation, metadata: raw.metadata }),
  };
}

function checkOptions(
  raw: RawHandler,
  of: { readonly owner: string; readonly service: RawService; readonly access: Access },
): void {
  if (raw.workflowCompletionRetention !== undefined && of.access !== "run") {
    refuse(of.owner, "it sets workflowCompletionRetention, but is no workflow handler");
  }
  if (raw.idempotencyRetention !== undefined && of.access === "run") {
    refuse(of.owner, "it sets idempotencyRetention, but is a workflow handler");
  }
  if (of.service.ingressPrivate && raw.ingressPrivate === false) {
    refuse(of.owner, "it is public, but its service is private");
  }
}

/**
 * `type/subtype`, `type/*` or star/star, and parameters, which do not count for requests. Only what
 * has no slash, or is half a wildcard, is refused: SDKs also send lists,
 * which match only themselves.
 */
const INPUT_TYPE = /^(?:\*\/\*\s*(?:;.*)?|(?!\*\/)[^/]*\/.*)$/;
/** Accepts what may be the value of a header. */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

function parseInput(raw: RawInput, owner: string): InputRule {
  const { required = false, contentType, jsonSchema } = raw;
  checkSchema(jsonSchema, owner, "input");
  if (contentType === undefined) return { required, ...schemaOf(jsonSchema) };
  if (!INPUT_TYPE.test(contentType)) {
    refuse(owner, `its input content type '${contentType}' is malformed`);
  }
  return { required, contentType, ...schemaOf(jsonSchema) };
}

function parseOutput(raw: RawOutput, owner: string): OutputRule {
  const { setContentTypeIfEmpty = false, contentType, jsonSchema } = raw;
  checkSchema(jsonSchema, owner, "output");
  if (contentType !== undefined && !HEADER_VALUE.test(contentType)) {
    refuse(owner, `its output content type '${contentType}' is malformed`);
  }
  return { setContentTypeIfEmpty, ...defined({ contentType }), ...schemaOf(jsonSchema) };
}

function checkSchema(schema: unknown, owner: string, what: "input" | "output"): void {
  const problem = isPresent(schema) ? schemaProblem(schema) : undefined;
  if (problem) refuse(owner, `its ${what} JSON schema is invalid: ${problem}`);
}

function schemaOf(jsonSchema: unknown): { readonly jsonSchema?: unknown } {
  return isPresent(jsonSchema) ? { jsonSchema } : {};
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function refuse(owner: string, why: string): never {
  throw Failure.plain(400, `Cannot register ${owner}: ${why}`);
}
