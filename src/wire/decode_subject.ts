import { Failure } from "../errors.ts";
import type { Command, Subject } from "../model/command.ts";
import { parseInvocationId } from "../model/id.ts";
import { scopeProblem } from "../model/scope.ts";
import { Undecodable } from "./field_reader.ts";
import {
  type AttachInvocationCommand,
  AttachInvocationCommandSchema,
  type GetInvocationOutputCommand,
  GetInvocationOutputCommandSchema,
  type IdempotentRequestTarget,
} from "./gen/service_pb.ts";
import { readBody } from "./generated_reader.ts";
import { readId } from "./id_field.ts";

// The commands that read the result of another invocation. `bytes` is the decoder's own copy.

type Target = AttachInvocationCommand["target"] | GetInvocationOutputCommand["target"];

/**
 * `AttachInvocationCommand` (docs/spec/service-protocol.md#results-of-others). Throws `Failure`
 * RT0017 for an id that is none, RT0024 for a scope (docs/spec/service-protocol.md#refused-commands).
 */
export function decodeAttach(bytes: Uint8Array): Command {
  const { target, resultCompletionId } = readBody(AttachInvocationCommandSchema, bytes);
  const subject = subjectOf(target);
  return { kind: "attach", bytes, subject, completion: resultCompletionId };
}

/** `GetInvocationOutputCommand`, which is like `AttachInvocationCommand`. */
export function decodeGetOutput(bytes: Uint8Array): Command {
  const { target, resultCompletionId } = readBody(GetInvocationOutputCommandSchema, bytes);
  const subject = subjectOf(target);
  return { kind: "getOutput", bytes, subject, completion: resultCompletionId };
}

function subjectOf(target: Target): Subject {
  switch (target.case) {
    case "invocationId":
      readId(target.value, { what: "invocation id", parse: parseInvocationId, refuse });
      return { by: "invocation", id: target.value };
    case "workflowTarget": {
      const { workflowName, workflowKey, scope } = target.value;
      return { by: "workflow", service: workflowName, key: workflowKey, ...scoped(scope) };
    }
    case "idempotentRequestTarget":
      return requestOf(target.value);
    default:
      throw new Undecodable("it has no target");
  }
}

/** A present key is kept, even when it is empty: objects may have an empty key. */
function requestOf(target: IdempotentRequestTarget): Subject {
  const { serviceName, handlerName, serviceKey, idempotencyKey, scope } = target;
  return {
    by: "idempotencyKey",
    service: serviceName,
    handler: handlerName,
    ...(serviceKey !== undefined && { key: serviceKey }),
    idempotencyKey,
    ...scoped(scope),
  };
}

/** Whether or not scopes are enabled: an invocation may be in one since before they were disabled. */
function scoped(scope: string | undefined): { readonly scope?: string } {
  if (scope === undefined) return {};
  const problem = scopeProblem(scope);
  if (problem) throw refuse(`the provided scope '${scope}' is invalid: ${problem}`, "RT0024");
  return { scope };
}

function refuse(why: string, code: "RT0017" | "RT0024" = "RT0017"): Failure {
  return new Failure(code, `Cannot ask for the result of an invocation: ${why}`);
}
