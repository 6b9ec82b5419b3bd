import { Failure } from "../errors.ts";
import type { Subject } from "../model/command.ts";
import { idOf } from "../model/subject.ts";
import { byInvocation } from "./path.ts";
import { checkScope } from "./scope.ts";

/** The invocation that a request names. */
export interface TargetObject {
  readonly subject: Subject;
  /** Well-formed. Absent where the invocation is named by its id, which is complete without it. */
  readonly scope?: string;
}

/**
 * Reads a target object: JSON, whatever the content type says
 * (docs/spec/ingress.md#attach-output-and-lookup). Fields it does not know are ignored. Throws
 * `Failure` 400 whose message says what is wrong with it, or with the id or scope in it.
 */
export function parseTarget(bytes: Uint8Array): TargetObject {
  const fields = parseFields(bytes);
  const target = required(fields, "target");
  switch (target) {
    case "invocation":
      return { subject: byInvocation(required(fields, "invocationId")) };
    case "workflow": {
      const service = required(fields, "workflowName");
      return scoped(fields, { by: target, service, key: required(fields, "workflowKey") });
    }
    case "idempotentInvocation":
      return scoped(fields, idempotent(fields));
    default:
      throw bad("unknown 'target', expected 'workflow', 'idempotentInvocation' or 'invocation'");
  }
}

/** The id of the invocation that it names, whether or not there is one. */
export function idOfTarget({ subject, scope }: TargetObject): string {
  if (scope === undefined || subject.by === "invocation") return idOf(subject);
  return idOf({ ...subject, scope });
}

function idempotent(fields: Fields): Subject {
  const service = required(fields, "service");
  const handler = required(fields, "handler");
  const idempotencyKey = required(fields, "idempotencyKey");
  const key = optional(fields, "key");
  const keyed = key === undefined ? {} : { key };
  return { by: "idempotencyKey", service, handler, ...keyed, idempotencyKey };
}

function scoped(fields: Fields, subject: Subject): TargetObject {
  const scope = optional(fields, "scope");
  if (scope === undefined) return { subject };
  checkScope(scope);
  return { subject, scope };
}

type Fields = Readonly<Record<string, unknown>>;

const strict = new TextDecoder("utf-8", { fatal: true });

function parseFields(bytes: Uint8Array): Fields {
  if (bytes.length === 0) throw bad("it is empty, expected a target object");
  let value: unknown;
  try {
    value = JSON.parse(strict.decode(bytes));
  } catch (cause) {
    // `fatal` throws a TypeError.
    const what = cause instanceof SyntaxError ? cause.message : "it is not UTF-8";
    throw bad(`it is not JSON: ${what}`, cause);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw bad(`expected an object, not ${kindOf(value)}`);
  }
  return value as Fields;
}

function required(fields: Fields, name: string): string {
  const value = optional(fields, name);
  if (value === undefined) throw bad(`missing field '${name}'`);
  return value;
}

/** Undefined when the field is absent or null. */
function optional(fields: Fields, name: string): string | undefined {
  const value = fields[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== "string") {
    throw bad(`field '${name}' must be a string, not ${kindOf(value)}`);
  }
  // A lone surrogate is replaced when an id is encoded, so it would name another invocation.
  if (/\p{Surrogate}/u.test(value)) throw bad(`field '${name}' is not well-formed Unicode`);
  return value;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function bad(what: string, cause?: unknown): Failure {
  return Failure.plain(400, `invalid request body: ${what}`, { cause });
}
