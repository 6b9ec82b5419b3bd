import { Router } from "itty-router/Router";
import type { AuditStore } from "../audit_port.ts";
import { Failure } from "../errors.ts";
import type { Member } from "../model/member.ts";
import type { Readiness } from "../model/readiness.ts";
import type { Dialect } from "../names.ts";
import { limitedLog } from "../observe/limited_log.ts";
import type { Invocations, Log, Random } from "../ports.ts";
import { accessOf, permit, type PermitOptions } from "./access.ts";
import { Audit, type AuditSettings } from "./audit/audit.ts";
import { AuditedCall } from "./audit/audited_call.ts";
import { batchRoutes } from "./batches.ts";
import { callOf } from "./call_of.ts";
import type { ChangeFeed } from "./change_feed.ts";
import { deploymentRoutes } from "./deployments.ts";
import { eventRoutes } from "./event_routes.ts";
import { infoRoutes, versionOf } from "./info_routes.ts";
import type { IngressEndpoint } from "./ingress_endpoint.ts";
import { invocationRoutes } from "./invocations.ts";
import { clusterRoutes } from "./kafka/cluster_routes.ts";
import type { KafkaAdmin } from "./kafka/kafka_admin.ts";
import { sidecarRoutes } from "./kafka/sidecar_routes.ts";
import { subscriptionRoutes } from "./kafka/subscription_routes.ts";
import { metricsRoutes } from "./metrics.ts";
import { promiseRoutes } from "./promises.ts";
import { type QueryOptions, queryRoutes } from "./query_route.ts";
import { queueRoutes } from "./queue_routes.ts";
import { quote } from "./refusals.ts";
import type { Registry } from "./registry.ts";
import { dialectsOf, refuse } from "./reply.ts";
import type { Call, Handle, Route, Routes } from "./route.ts";
import { ruleRoutes } from "./rules/rule_routes.ts";
import { type ApplySerde, serdeRoutes } from "./serdes.ts";
import { serviceRoutes } from "./services.ts";
import { sessionRoutes } from "./session_routes.ts";
import type { UiOptions } from "./ui_files.ts";
import { secured } from "./ui_headers.ts";
import { uiRoute } from "./ui_route.ts";
import { UnknownNames } from "./unknown_names.ts";
import type { Feature } from "./version.ts";
import type { PublishedKeys } from "./well_known_routes.ts";
import { WrongMethod } from "./wrong_method.ts";

export interface AdminOptions extends Partial<QueryOptions>, PermitOptions, Pick<UiOptions, "ui"> {
  readonly registry: Registry;
  readonly invocations: Pick<Invocations, "operate" | "editState" | "completePromise">;
  readonly applySerde: ApplySerde;
  readonly random: Random;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** As in `Clock`. */
  readonly soon: (call: () => void) => void;
  readonly log: Log;
  /** Our own version, as in `package.json`. */
  readonly version: string;
  readonly clusterName: string;
  readonly ingressEndpoint: IngressEndpoint;
  /** The largest body that is read. Beyond it: 413. */
  readonly bodyBytesMax: number;
  /** Requests in progress at once. Beyond it: 429. */
  readonly requestsMax: number;
  /** The page of metrics. Absent: there is none. */
  readonly metrics?: () => Promise<Response>;
  /** What keeps the process from being ready. Absent: nothing. */
  readonly readiness?: Readiness;
  /** What verifies ID tokens of this server. Absent or undefined: it makes none. */
  readonly idTokenKeys?: () => PublishedKeys | undefined;
  /** Whether unknown query parameters and fields are refused. Default: they are warned about. */
  readonly isStrict?: boolean;
  /** The processes of a fleet. Absent: this one is alone. */
  readonly members?: () => readonly Member[];
  /** Called for every answer. `route`: such as `GET /services/:service`, or `other`. */
  readonly onResponse?: (route: string, status: number) => void;
  /** The server's end of Kafka sidecars. Absent: none is served. */
  readonly kafka?: KafkaAdmin;
  /** Tells browsers what has changed. Absent: nothing does. */
  readonly changes?: ChangeFeed;
  /** What is recorded of changes. Absent: it is in the log only. */
  readonly audit?: AuditSettings;
  readonly auditStore?: AuditStore | undefined;
  /** Knows where a request came from. */
  readonly addressOf?: ((request: Request) => string | undefined) | undefined;
  /** Experimental features that are switched on. */
  readonly features?: readonly Feature[];
}

/**
 * The admin interface as one function (docs/spec/admin.md#requests). It always resolves: refusals
 * have the one shape of `refuse`, and an unexpected error is logged and answered with a 500 that
 * does not describe it. No CORS, so no browser of another origin. Throws `Bug` for a route
 * without an entry in `ACCESS`.
 */
export function admin(options: AdminOptions): (request: Request) => Promise<Response> {
  const routes: Routes = {
    ...infoRoutes(options, () => routes),
    ...metricsRoutes(options.metrics),
    ...queryRoutes({ running: () => [], ...options }),
    ...deploymentRoutes(options),
    ...serviceRoutes(options),
    ...promiseRoutes(options),
    ...serdeRoutes(options),
    ...invocationRoutes(options),
    ...batchRoutes(options),
    ...ruleRoutes(options),
    ...queueRoutes(options),
    ...clusterRoutes(options),
    ...subscriptionRoutes(options),
    ...sidecarRoutes(options),
    ...eventRoutes(options),
    ...sessionRoutes(options),
  };
  const serve = server(createRouter(routes, options), options);
  let requests = 0;
  return async (request) => {
    requests++;
    try {
      return await serve(request, requests > options.requestsMax);
    } finally {
      requests--;
    }
  };
}

/** Answers one request, and records it. `isTooMuch`: there are too many at once. */
function server(
  route: Handle,
  options: AdminOptions,
): (request: Request, isTooMuch: boolean) => Promise<Response> {
  const { log, bodyBytesMax, isStrict = false, onResponse } = options;
  const warnings = limitedLog(log, options.now);
  const audit = new Audit(options.audit ?? UNSTORED, { ...options, store: options.auditStore });
  const { allowedHosts = [], authenticator } = options;
  const needsToken = authenticator !== undefined;
  // Without tokens anybody may know it who asks under a name of this server.
  const shown = { needsToken, allowedHosts, about: needsToken ? undefined : versionOf(options) };
  const ui = async (call: Call) => {
    const page = await uiRoute(call, { ...options, ...shown });
    // Its first request is a query.
    if (page) options.introspection?.prepare?.();
    return page;
  };
  return async (request, isTooMuch) => {
    const dialects = dialectsOf(request.headers);
    const unknown = new UnknownNames(isStrict);
    const audited = new AuditedCall();
    let name = "other";
    const found = (route: string) => void (name = audited.route = route);
    const about = { isTooMuch, dialects, unknown, found, audited };
    const answered = await answer(request, { route, ui, log, bodyBytesMax, ...about });
    const response = secured(new URL(request.url).pathname, answered);
    const made = response.headers.get("location");
    if (made !== null) audited.note("created", made);
    await audit.record(audited, recorded(request, response, options));
    onResponse?.(name, response.status);
    unknown.tell(response, dialects, warnings);
    return request.method === "HEAD" ? withoutBody(response) : response;
  };
}

/** Where nothing is said of it: records are logged. */
const UNSTORED = { retentionMs: 0, rowsMax: 1, refusedMax: 10, withQueries: false };

function recorded(request: Request, { status }: Response, { addressOf }: AdminOptions) {
  const remoteAddress = addressOf?.(request);
  return { method: request.method, status, ...(remoteAddress !== undefined && { remoteAddress }) };
}

interface Serving {
  readonly route: Handle;
  readonly ui: (call: Call) => Promise<Response | undefined>;
  readonly log: Log;
  readonly bodyBytesMax: number;
  readonly isTooMuch: boolean;
  readonly dialects: readonly Dialect[];
  readonly unknown: UnknownNames;
  readonly found: Call["found"];
  readonly audited: AuditedCall;
}

async function answer(
  request: Request,
  { route, ui, log, bodyBytesMax, isTooMuch, dialects, unknown, found, audited }: Serving,
): Promise<Response> {
  try {
    if (isTooMuch) throw overloaded();
    const call = callOf(request, { bodyBytesMax, unknown, found, audited });
    return await ui(call) ?? await route(call);
  } catch (error) {
    if (error instanceof Failure) {
      if (error.status >= 500 && error.code === null) logFailure(error, log);
      return refuse(error, dialects, error.status === 401 ? CHALLENGE : {});
    }
    if (error instanceof WrongMethod) {
      const message = `Cannot ${request.method} this path: only ${error.allow} are allowed`;
      return refuse({ status: 405, message, code: null }, dialects, { allow: error.allow });
    }
    log("error", "Unexpected error in the admin interface", {
      method: request.method,
      path: new URL(request.url).pathname,
      error: error instanceof Error ? error.stack ?? error.message : String(error),
    });
    return refuse({ status: 500, message: "Internal error", code: null }, dialects);
  }
}

/** How a client is to authenticate, which every 401 says (RFC 9110, 15.5.2). */
const CHALLENGE = { "www-authenticate": "Bearer" };

function overloaded(): Failure {
  return Failure.plain(429, "too many requests, the admin interface is overloaded. Retry later");
}

/**
 * A failure of this server's own parts, such as the store: its cause is for the operator, not the
 * caller.
 */
function logFailure({ message, cause }: Failure, log: Log): void {
  log("warn", message, { cause: cause instanceof Error ? cause.message : String(cause) });
}

function createRouter(routes: Routes, options: PermitOptions): Handle {
  const router = Router<Call, []>();
  for (const [path, methods] of Object.entries(routes)) {
    for (const [method, route] of Object.entries(methods)) {
      const handle = typeof route === "function" ? route : checkingQuery(route);
      const name = `${method} ${path}`, access = accessOf(name);
      const found = (call: Call) => {
        call.found(name);
        noteParams(call);
      };
      const allowed = async (call: Call) => {
        const known = (identity: string) => void (call.audited.identity = identity);
        call.level = await permit(call.request, access, { ...options, known });
      };
      router[method.toLowerCase()]?.(path, found, allowed, decodeParams, handle);
    }
    const allow = Object.keys(methods).flatMap((one) => one === "GET" ? ["GET", "HEAD"] : one);
    router.all(path, () => {
      throw new WrongMethod(allow.join(", "));
    });
  }
  return async (call) => {
    const { pathname } = new URL(call.url);
    // The router forgives a slash at the end; here `/deployments/` is not the list.
    const found: unknown = pathname.endsWith("/") ? undefined : await router.fetch(call);
    if (found instanceof Response) return found;
    throw Failure.plain(404, `Cannot find ${quote(pathname)}`);
  };
}

/** What is described of a route is all that it reads. */
function checkingQuery({ handle, query = [] }: Route): Handle {
  const known = query.map(({ name }) => name);
  return (call) => {
    const { searchParams } = new URL(call.url);
    call.unknown.check("query parameter", searchParams.keys(), known);
    for (const one of known) {
      const value = searchParams.get(one);
      if (value !== null) call.audited.note(one, value);
    }
    return handle(call);
  };
}

/** Of one that is refused, too. */
function noteParams({ params, audited }: Call): void {
  for (const [name, value] of Object.entries(params)) audited.note(name, value);
}

/** Path segments arrive as they were sent, so that an encoded slash stays within its segment. */
function decodeParams(call: Call): void {
  const decoded = Object.entries(call.params).map(([name, value]) => {
    try {
      return [name, decodeURIComponent(value)];
    } catch (cause) {
      throw Failure.plain(400, `Cannot decode the path: invalid UTF-8 in '${name}'`, { cause });
    }
  });
  call.params = Object.fromEntries(decoded);
}

function withoutBody({ status, headers }: Response): Response {
  return new Response(null, { status, headers });
}
