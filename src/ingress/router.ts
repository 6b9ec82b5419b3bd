import { unreachable } from "../assert.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { Failure } from "../errors.ts";
import { ONLY_PARTITION } from "../model/ring.ts";
import { ALIAS, type Dialect, dialectOfSegment, DIALECTS, header, OWN } from "../names.ts";
import { limitedLog } from "../observe/limited_log.ts";
import { json, refused } from "./response.ts";
import { authorized, identityOf } from "./authorize.ts";
import { completeAwakeable } from "./awakeable.ts";
import { call } from "./call.ts";
import { type Caller, isAllowedOrigin, preflight } from "./cors.ts";
import { HeaderPolicy } from "./header_policy.ts";
import { readHead, takeAuthorization } from "./headers.ts";
import { health, ready } from "./health.ts";
import type { Inbound, IngressOptions, Setup } from "./inbound.ts";
import { lookup } from "./lookup.ts";
import { attach, output } from "./outcome.ts";
import { ingressDocument } from "./openapi/document.ts";
import { parsePath, type Route, trimSlashes } from "./path.ts";
import { checkNames } from "./query.ts";
import { fetchReader } from "./request_reader.ts";
import { send } from "./send.ts";

const BODY_BYTES_MAX = 32 * 1024 * 1024;

/**
 * The whole ingress interface (docs/spec/ingress.md#routes) as one Fetch handler. It never throws:
 * every failure becomes an error answer, and one that is not a `Failure` is logged.
 */
export function ingress(
  options: IngressOptions,
): (request: Request) => Response | Promise<Response> {
  const setup: Setup = {
    bodyBytesMax: BODY_BYTES_MAX,
    requestsMax: Infinity,
    reader: fetchReader,
    tracer: undefined,
    partitionChoice: ONLY_PARTITION,
    readiness: () => Promise.resolve([]),
    isStrict: false,
    onResponse: () => {},
    authenticator: undefined,
    certificateOf: undefined,
    corsOrigins: ["*"],
    headers: new HeaderPolicy({ drop: [], redact: [] }),
    version: "0.0.0",
    ...options,
    log: limitedLog(options.log, options.now),
  };
  if (setup.requestsMax === Infinity) return (request) => serve(setup, request);
  let requests = 0;
  return async (request) => {
    requests++;
    try {
      return await serve(setup, request, requests > setup.requestsMax);
    } finally {
      requests--;
    }
  };
}

/** What is known of a request so far, for its answer and its log record. */
interface Known {
  readonly isTooMuch: boolean;
  caller: Caller;
  route: Route["kind"] | "preflight" | "other";
}

async function serve(setup: Setup, request: Request, isTooMuch = false): Promise<Response> {
  const known: Known = { isTooMuch, caller: { dialects: DIALECTS }, route: "other" };
  let response: Response;
  try {
    response = await respond(setup, request, known);
  } catch (cause) {
    response = toAnswer(setup, known.caller, cause);
  }
  setup.onResponse(known.route, response.status);
  return response;
}

/** Records in `known` what it finds out. Throws for every refusal. */
function respond(setup: Setup, request: Request, known: Known): Response | Promise<Response> {
  const { method } = request;
  const flat = setup.reader.headers(request);
  if (method === "OPTIONS") {
    known.route = "preflight";
    return preflight(flat, setup.corsOrigins);
  }
  const target = trimSlashes(originForm(setup.reader.target(request)));
  const queryAt = target.indexOf("?");
  const path = queryAt < 0 ? target : target.slice(0, queryAt);
  const head = readHead(flat);
  const dialects = dialectsOf(path);
  const { origin } = head;
  const isAllowed = origin !== undefined && isAllowedOrigin(origin, setup.corsOrigins);
  const caller = isAllowed
    ? { dialects, origin, isNamed: setup.corsOrigins.includes(origin) }
    : { dialects };
  known.caller = caller;
  if (known.isTooMuch) throw overloaded();
  const schema = setup.schema();
  const search = queryAt < 0 ? "" : target.slice(queryAt + 1);
  const inbound: Inbound = { request, method, target, search, head, caller, schema };
  const parse = (): Route => {
    const route = parsePath(path, (name) => schema.latest(name)?.type);
    known.route = route.kind;
    return route;
  };
  const { authenticator } = setup;
  if (authenticator) return respondToKnown(setup, inbound, { authenticator, parse });
  return dispatchAny(setup, inbound, parse());
}

/** As `respond`, to a client that shows a token, which is checked before anything is said of the path. */
async function respondToKnown(
  setup: Setup,
  inbound: Inbound,
  { authenticator, parse }: { readonly authenticator: Authenticator; readonly parse: () => Route },
): Promise<Response> {
  const { request, head } = inbound;
  // A browser shows its certificate for any page: a page has to send a token.
  const certificate = () => head.origin === undefined ? setup.certificateOf?.(request) : undefined;
  const client = { certificate, request };
  const identity = await identityOf(authenticator, takeAuthorization(head), client);
  let route: Route;
  try {
    route = parse();
  } catch (cause) {
    throw identity instanceof Failure ? identity : cause;
  }
  return dispatchAny(setup, authorized(inbound, route, identity), route);
}

function dispatchAny(
  setup: Setup,
  inbound: Inbound,
  route: Route,
): Response | Promise<Response> {
  const hasQuery = inbound.search !== "";
  return hasQuery ? dispatchWithQuery(setup, inbound, route) : dispatch(setup, inbound, route);
}

/**
 * As `dispatch`, with a warning when a query parameter is most likely misspelled (decision 042).
 */
async function dispatchWithQuery(
  setup: Setup,
  inbound: Inbound,
  route: Route,
): Promise<Response> {
  const warning = checkNames(inbound.search, route, setup.isStrict);
  const response = await dispatch(setup, inbound, route);
  if (warning !== undefined) {
    setup.log("warn", "A query parameter of a call is unknown and ignored", { warning });
    for (const one of inbound.caller.dialects) {
      response.headers.set(header(one, "warning"), warning);
    }
  }
  return response;
}

function dispatch(
  setup: Setup,
  inbound: Inbound,
  route: Route,
): Response | Promise<Response> {
  const { caller, method, schema } = inbound;
  switch (route.kind) {
    case "call":
      return call(setup, inbound, route);
    case "send":
      return send(setup, inbound, route);
    case "health":
      allow("GET", method);
      return health(caller, schema);
    case "ready":
      allow("GET", method);
      return ready(caller, setup.readiness);
    case "openapi":
      allow("GET", method);
      return json(caller, ingressDocument(setup.version, schema.defaults.flowControl), {
        status: 200,
      });
    case "attach":
      allow(route.subject.by === "body" ? "POST" : "GET", method);
      return attach(setup, inbound, route);
    case "output":
      allow(route.subject.by === "body" ? "POST" : "GET", method);
      return output(setup, inbound, route);
    case "lookup":
      allow("POST", method);
      return lookup(setup, inbound);
    case "awakeable":
      allow("POST", method);
      return completeAwakeable(setup, inbound, route);
    default:
      return unreachable(route);
  }
}

function allow(only: "GET" | "POST", method: string): void {
  if (method !== only) throw Failure.plain(405, "method not allowed");
}

const ONLY: Readonly<Record<Dialect, readonly Dialect[]>> = { [OWN]: [OWN], [ALIAS]: [ALIAS] };

/**
 * A caller is answered in the dialect of its path. A legacy path has none: its old clients read the
 * alias, and this server's own name is `svc`, so both are given.
 */
function dialectsOf(path: string): readonly Dialect[] {
  const end = path.indexOf("/", 1);
  const dialect = dialectOfSegment(path.slice(1, end < 0 ? path.length : end));
  return dialect === undefined ? DIALECTS : ONLY[dialect];
}

/** Drops what a proxy's client writes in front of the path (`http://host`), and any fragment. */
function originForm(whole: string): string {
  const fragmentAt = whole.indexOf("#");
  const target = fragmentAt < 0 ? whole : whole.slice(0, fragmentAt);
  if (target.charCodeAt(0) === 0x2f) return target;
  const scheme = target.indexOf("://");
  if (scheme < 0) return target;
  const path = target.indexOf("/", scheme + 3);
  return path < 0 ? "/" : target.slice(path);
}

function toAnswer({ log }: Setup, caller: Caller, cause: unknown): Response {
  if (cause instanceof Failure) return refused(caller, cause.status, cause.message);
  if (cause instanceof DOMException && cause.name === "AbortError") {
    // The caller has disconnected, and the wait for its answer ended with it: this answer is not
    // read.
    return refused(caller, 499, "the caller went away");
  }
  const stack = cause instanceof Error ? cause.stack : undefined;
  log("error", "Cannot answer an ingress request", { cause: String(cause), stack });
  return refused(caller, 500, "internal error");
}

function overloaded(): Failure {
  return Failure.plain(429, "too many requests, the ingress is overloaded. Retry later.");
}
