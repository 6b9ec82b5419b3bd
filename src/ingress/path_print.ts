import { unreachable } from "../assert.ts";
import type { Dialect } from "../names.ts";
import type { InvokeRoute, OutcomeRoute, Route } from "./path.ts";

/**
 * The path of a route: what `parsePath` reads back as the same route. `dialect`: the prefix to
 * spell it with. Service, handler and idempotency key are written as they are, so they must hold
 * no `/` or `?`; keys and scopes are percent-encoded.
 */
export function printPath(route: Route, dialect: Dialect): string {
  if (route.kind === "openapi") return "/openapi";
  return `/${dialect}/${tail(route)}`;
}

/** The path of a call or send up to version 1.6, which knows no scopes. */
export function printLegacyPath(route: InvokeRoute): string {
  return `/${target(route)}${route.kind === "send" ? "/send" : ""}`;
}

function tail(route: Exclude<Route, { readonly kind: "openapi" }>): string {
  switch (route.kind) {
    case "call":
    case "send":
      return `${scope(route)}${route.kind}/${target(route)}`;
    case "attach":
    case "output":
      return outcome(route);
    case "awakeable":
      return `awakeables/${route.id}/${route.verb}`;
    case "lookup":
    case "health":
    case "ready":
      return route.kind;
    default:
      return unreachable(route);
  }
}

function outcome({ kind: verb, subject }: OutcomeRoute): string {
  switch (subject.by) {
    case "body":
      return verb;
    case "invocation":
      return `${verb}/${subject.id}`;
    case "workflow":
      return `workflow/${subject.service}/${encodeURIComponent(subject.key)}/${verb}`;
    case "idempotencyKey":
      return `invocation/${target(subject)}/${subject.idempotencyKey}/${verb}`;
    default:
      return unreachable(subject);
  }
}

function scope(route: InvokeRoute): string {
  return route.scope === undefined ? "" : `scope/${encodeURIComponent(route.scope)}/`;
}

function target(
  { service, handler, key }: {
    readonly service: string;
    readonly handler: string;
    readonly key?: string;
  },
): string {
  return key === undefined
    ? `${service}/${handler}`
    : `${service}/${encodeURIComponent(key)}/${handler}`;
}
