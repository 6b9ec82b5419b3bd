import { Failure } from "../errors.ts";
import { readPriority } from "../model/priority.ts";
import type { FlowControl, ServiceSchema } from "../model/schema.ts";
import { readLimitKey, scopeProblem } from "../model/scope.ts";
import { checkLimitKeyHeader, type Head } from "./headers.ts";
import type { Query } from "./query.ts";

/** Throws `Failure` 400 unless this can be a scope (docs/spec/ingress.md#scopes). */
export function checkScope(scope: string): void {
  const wrong = scopeProblem(scope);
  if (wrong) throw Failure.plain(400, `bad scope value: ${wrong}`);
}

/**
 * Throws `Failure` 400 unless a service of this type may be called in this scope
 * (docs/spec/ingress.md#scopes). `allowed`: undefined while flow control is off.
 */
export function admitScope(
  scope: string,
  type: ServiceSchema["type"],
  allowed: FlowControl | undefined,
): void {
  checkScope(scope);
  if (!allowed?.scopes) {
    throw Failure.plain(400, "scoped invocations require vqueues to be enabled");
  }
  if (type === "virtual_object" && !allowed.scopedObjects) {
    throw Failure.plain(400, "scope is not supported for Virtual Object targets");
  }
}

/**
 * The limit key of a request, without a slash at its end. The header takes precedence over the query,
 * and an empty one is none (docs/spec/ingress.md#scopes). Throws `Failure` 400 when it is invalid, or
 * when there is no scope.
 */
export function limitKeyOf(
  head: Head,
  query: Query,
  scope: string | undefined,
): string | undefined {
  checkLimitKeyHeader(head);
  const read = readLimitKey(head.limitKey ?? head.aliasLimitKey ?? query.limitKey ?? "");
  if (!read) return undefined;
  if ("problem" in read) throw Failure.plain(400, `invalid limit-key: ${read.problem}`);
  if (scope === undefined) throw Failure.plain(400, "limit-key requires a scope to be set");
  return read.limitKey;
}

/**
 * The priority of a request; undefined: the default one. The header takes precedence over the query
 * (docs/spec/ingress.md#priority). Throws `Failure` 400 for anything but an integer in the range.
 */
export function priorityOf(head: Head, query: Query): number | undefined {
  const written = head.priority ?? head.aliasPriority ?? query.priority;
  if (written === undefined) return undefined;
  const read = readPriority(written);
  if ("problem" in read) throw Failure.plain(400, read.problem);
  return read.priority;
}
