import type { CallRequest } from "../../model/command.ts";
import type { FlowControl, ServiceSchema } from "../../model/schema.ts";
import { priorityIn, readPriority } from "../../model/priority.ts";
import { readLimitKey, scopeProblem } from "../../model/scope.ts";
import type { Refusal } from "./frames_received.ts";

/** What decides where a call waits, and before which others. */
export interface Admission {
  readonly scope?: string;
  readonly limitKey?: string;
  readonly priority?: number;
}

const NONE: Admission = {};

/**
 * The scope, the limit key and the priority that a handler gives a call, or the reason why it is
 * refused, in the words and the order of the reference
 * (docs/spec/service-protocol.md#refused-commands). An empty scope or limit key is none.
 */
export function admissionOf(
  request: CallRequest,
  { type }: ServiceSchema,
  allowed: FlowControl | undefined,
): Admission | Refusal {
  const { scope = "", limitKey = "" } = request;
  const written = request.headers.length > 0 ? priorityIn(request.headers) : undefined;
  if (scope === "" && limitKey === "" && written === undefined) return NONE;
  if (scope !== "") {
    const refusal = refusedScope(scope, type, allowed);
    if (refusal) return refusal;
  }
  const key = readLimitKey(limitKey);
  if (key && "problem" in key) {
    return badFlow(`the provided limit key '${limitKey}' is invalid: ${key.problem}`);
  }
  if (key && scope === "") return badFlow(KEY_WITHOUT_SCOPE);
  const read = written === undefined ? undefined : readPriority(written);
  if (read && "problem" in read) return { code: "RT0017", message: read.problem };
  return {
    ...(scope !== "" && { scope }),
    ...key,
    ...(read?.priority !== undefined && { priority: read.priority }),
  };
}

const KEY_WITHOUT_SCOPE = "limit key was provided without a scope. Limit keys take effect only " +
  "when used in combination with scope";

function refusedScope(
  scope: string,
  type: ServiceSchema["type"],
  allowed: FlowControl | undefined,
): Refusal | undefined {
  if (!allowed?.scopes) {
    return badFlow("scoped invocations require flow control experimental feature to be enabled");
  }
  const problem = scopeProblem(scope);
  if (problem) return badFlow(`the provided scope '${scope}' is invalid: ${problem}`);
  if (type === "virtual_object" && !allowed.scopedObjects) {
    return { code: "RT0017", message: "scope is not supported for Virtual Object targets" };
  }
  return undefined;
}

function badFlow(message: string): Refusal {
  return { code: "RT0024", message };
}
