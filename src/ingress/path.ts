import { Failure } from "../errors.ts";
import type { Subject } from "../model/command.ts";
import { BadId, parseInvocationId } from "../model/id.ts";
import type { ServiceType } from "../model/target.ts";
import { type Dialect, dialectOfSegment } from "../names.ts";
import { adminHint, badInvocationId, badPathOf, badReserved } from "./path_help.ts";
import { decodeSegment } from "./percent.ts";

/**
 * What a path asks for: every route of docs/spec/ingress.md#routes. Keys and scopes are decoded.
 */
export type Route =
  | InvokeRoute
  | OutcomeRoute
  | { readonly kind: "lookup" }
  | AwakeableRoute
  | { readonly kind: "health" }
  | { readonly kind: "ready" }
  | { readonly kind: "openapi" };

export interface InvokeRoute {
  readonly kind: "call" | "send";
  readonly service: string;
  readonly handler: string;
  /** Present, and perhaps empty, exactly for objects and workflows. */
  readonly key?: string;
  /** Not checked yet. */
  readonly scope?: string;
}

/** The result of an earlier invocation, awaited or not. */
export interface OutcomeRoute {
  readonly kind: "attach" | "output";
  /**
   * Whose result is asked for. `body`: a target object in the request's body says. An idempotency
   * key is exactly as in the path: that segment is never decoded.
   */
  readonly subject: Subject | { readonly by: "body" };
}

/** An awakeable to complete. */
export interface AwakeableRoute {
  readonly kind: "awakeable";
  /** Not checked yet. */
  readonly id: string;
  readonly verb: "resolve" | "reject";
}

/** The registry, as far as paths need it: the service decides whether a key comes next. */
export type TypeOf = (service: string) => ServiceType | undefined;

const SLASH = 0x2f;
const SEGMENTS_MIN = 2;
const SEGMENTS_MAX = 7;

/**
 * Drops the slashes at the end of the path in a request target, and all but one at its start:
 * scripts that join a base address and a path write them. Slashes in between stay, since a key may
 * be empty, and so does the query.
 */
export function trimSlashes(target: string): string {
  const queryAt = target.indexOf("?");
  const length = queryAt < 0 ? target.length : queryAt;
  let end = length;
  while (end > 1 && target.charCodeAt(end - 1) === SLASH) end--;
  let start = 0;
  while (start + 1 < end && target.charCodeAt(start + 1) === SLASH) start++;
  if (start === 0 && end === length) return target;
  return target.slice(start, end) + target.slice(length);
}

/**
 * Parses the path of a request, without its query and trimmed (docs/spec/ingress.md#routes). Throws
 * `Failure` 400 for a shape that fits no route, 404 for an unknown verb or service.
 */
export function parsePath(path: string, typeOf: TypeOf): Route {
  // What stands before the leading slash comes first and is empty; one too many tells "too many".
  const parts = path.split("/", SEGMENTS_MAX + 2);
  if (parts.length <= SEGMENTS_MIN || parts.length > SEGMENTS_MAX + 1 || parts[0] !== "") {
    if (path === "/openapi") return { kind: "openapi" };
    throw badPathOf(path, parts[1]);
  }
  const dialect = dialectOfSegment(parts[1] ?? "");
  if (dialect === undefined) return parseLegacy(parts, typeOf);
  const verb = parts[2];
  switch (verb) {
    case "call":
    case "send":
      return parseInvoke(parts, { at: 3, kind: verb, dialect, typeOf });
    case "scope":
      return parseScoped(parts, dialect, typeOf);
    default:
      return parseOther(parts, dialect, typeOf);
  }
}

/** `/{service}[/{key}]/{handler}[/send]`: server versions up to 1.6. */
function parseLegacy(parts: readonly string[], typeOf: TypeOf): Route {
  if (parts[1] === "openapi") throw notFound();
  const target = parseTarget(parts, 1, typeOf);
  const verb = target && parts[target.next];
  const isSend = verb === "send";
  if (!target || parts.length > target.next + 1 || !(isSend || verb === undefined)) {
    throw Failure.plain(
      400,
      "bad path, expected either /:service-name/:handler or /:object-name/:object-key/:handler",
    );
  }
  return toRoute(isSend ? "send" : "call", target);
}

function parseInvoke(
  parts: readonly string[],
  { at, kind, dialect, typeOf }: {
    at: number;
    kind: "call" | "send";
    dialect: Dialect;
    typeOf: TypeOf;
  },
): InvokeRoute {
  const target = parseTarget(parts, at, typeOf);
  if (!target || parts.length !== target.next) throw badReserved(dialect);
  return toRoute(kind, target);
}

function parseScoped(parts: readonly string[], dialect: Dialect, typeOf: TypeOf): InvokeRoute {
  const [scope, kind] = [parts[3], parts[4]];
  if (scope === undefined || (kind !== "call" && kind !== "send")) throw badReserved(dialect);
  const route = parseInvoke(parts, { at: 5, kind, dialect, typeOf });
  return { ...route, scope: decodeKey(scope) };
}

function parseOther(parts: readonly string[], dialect: Dialect, typeOf: TypeOf): Route {
  const verb = parts[2];
  switch (verb) {
    case "attach":
    case "output":
      if (parts.length > 4) throw badReserved(dialect);
      return { kind: verb, subject: parts[3] === undefined ? BODY : byInvocation(parts[3]) };
    case "lookup":
      if (parts.length > 3) throw badReserved(dialect);
      return { kind: "lookup" };
    case "health":
      return { kind: "health" };
    case "ready":
      return { kind: "ready" };
    case "awakeables":
    case "a":
      return parseAwakeable(parts, dialect);
    case "invocation":
      return parseOldInvocation(parts, dialect, typeOf);
    case "workflow":
      return parseOldWorkflow(parts, dialect);
    default:
      throw notFound();
  }
}

const BODY = { by: "body" } as const;

function parseAwakeable(parts: readonly string[], dialect: Dialect): Route {
  const [id, verb] = [parts[3], parts[4]];
  if (id === undefined || verb === undefined) {
    throw badPath(dialect, "/awakeables/:id/", ["resolve", "reject"]);
  }
  if (verb !== "resolve" && verb !== "reject") throw notFound();
  return { kind: "awakeable", id, verb };
}

/** `invocation/{id}/attach` and `invocation/{target…}/{idempotency key}/attach`, and `output`. */
function parseOldInvocation(parts: readonly string[], dialect: Dialect, typeOf: TypeOf): Route {
  const bad = () =>
    badPath(dialect, "/invocation/", [
      ":invocation_id/output",
      ":invocation_id/attach",
      ":invocation_target/:idempotency_key/output",
      ":invocation_target/:idempotency_key/attach",
    ]);
  if (parts.length < 5) throw bad();
  if (parts.length === 5) {
    return { kind: outcomeVerb(parts[4]), subject: byInvocation(parts[3] ?? "") };
  }
  const target = parseTarget(parts, 3, typeOf);
  const idempotencyKey = target && parts[target.next];
  if (!target || idempotencyKey === undefined || parts.length < target.next + 2) throw bad();
  const { service, handler, key } = target;
  const named = key === undefined ? { service, handler } : { service, handler, key };
  return {
    kind: outcomeVerb(parts[target.next + 1]),
    subject: { by: "idempotencyKey", ...named, idempotencyKey },
  };
}

function parseOldWorkflow(parts: readonly string[], dialect: Dialect): Route {
  const [service, key] = [parts[3], parts[4]];
  if (service === undefined || key === undefined || parts.length < 6) {
    throw badPath(dialect, "/workflow/:workflow_name/:workflow_key/", ["output", "attach"]);
  }
  return { kind: outcomeVerb(parts[5]), subject: { by: "workflow", service, key: decodeKey(key) } };
}

function outcomeVerb(verb: string | undefined): "attach" | "output" {
  if (verb !== "attach" && verb !== "output") throw notFound();
  return verb;
}

/**
 * An invocation by its id. Throws `Failure` 400 unless the id is well-formed
 * (docs/spec/ingress.md#errors).
 */
export function byInvocation(id: string): Subject {
  try {
    parseInvocationId(id);
  } catch (cause) {
    if (!(cause instanceof BadId)) throw cause;
    throw badInvocationId(id, cause);
  }
  return { by: "invocation", id };
}

interface TargetParts {
  readonly service: string;
  readonly handler: string;
  readonly key: string | undefined;
  /** Index of the first segment after the handler. */
  readonly next: number;
}

/** Undefined when segments are missing. An unknown service is reported before any other fault. */
function parseTarget(
  parts: readonly string[],
  at: number,
  typeOf: TypeOf,
): TargetParts | undefined {
  const service = parts[at];
  if (service === undefined) return undefined;
  const type = typeOf(service);
  if (type === undefined) {
    throw Failure.plain(
      404,
      `service '${service}' not found, make sure to register the service before calling it.` +
        adminHint(service),
    );
  }
  const isKeyed = type !== "service";
  const handler = parts[isKeyed ? at + 2 : at + 1];
  if (handler === undefined) return undefined;
  const key = isKeyed ? decodeKey(parts[at + 1] ?? "") : undefined;
  return { service, handler, key, next: isKeyed ? at + 3 : at + 2 };
}

function toRoute(kind: "call" | "send", { service, handler, key }: TargetParts): InvokeRoute {
  return key === undefined ? { kind, service, handler } : { kind, service, handler, key };
}

function decodeKey(segment: string): string {
  const key = decodeSegment(segment);
  if (key === undefined) throw Failure.plain(400, "bad path, cannot decode key: it is not UTF-8");
  return key;
}

function badPath(dialect: Dialect, head: string, tails: readonly string[]): Failure {
  const known = tails.map((tail) => `/${dialect}${head}${tail}`);
  return Failure.plain(400, `bad path, expected either ${known.join(" or ")}`);
}

function notFound(): Failure {
  return Failure.plain(404, "not found");
}
