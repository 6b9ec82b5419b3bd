import { Router } from "itty-router/Router";
import { Failure } from "../errors.ts";
import type { Invocations, Log, Random } from "../ports.ts";
import { batchRoutes } from "./batches.ts";
import { deploymentRoutes } from "./deployments.ts";
import { invocationRoutes } from "./invocations.ts";
import { quote } from "./refusals.ts";
import type { Registry } from "./registry.ts";
import { dialectOf, empty, refuse, reply } from "./reply.ts";
import type { Call, Handle, Routes } from "./route.ts";
import { serviceRoutes } from "./services.ts";
import { apiVersions, type Feature, versionRecord } from "./version.ts";

export interface AdminOptions {
  readonly registry: Registry;
  readonly invocations: Pick<Invocations, "operate">;
  readonly random: Random;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
  /** Our own version, as in `package.json`. */
  readonly version: string;
  /** The URL under which browsers reach the ingress. */
  readonly ingressEndpoint: string;
  /** Experimental features that are switched on. */
  readonly features?: readonly Feature[];
}

/**
 * The admin interface as one function (specification, Admin endpoints; http-api §3). It always
 * resolves: refusals have the one shape of `refuse`, and what nobody expected is logged and
 * answered with a 500 that says nothing about it. No CORS, so no browser of another origin.
 */
export function admin(options: AdminOptions): (request: Request) => Promise<Response> {
  const route = createRouter({
    "/health": { GET: () => empty(200) },
    "/version": {
      GET: () => reply(200, versionRecord(options)),
    },
    ...deploymentRoutes(options.registry),
    ...serviceRoutes(options.registry),
    ...invocationRoutes(options),
    ...batchRoutes(options),
  });
  return async (request) => {
    const response = await answer(request, route, options.log);
    return request.method === "HEAD" ? withoutBody(response) : response;
  };
}

/** A path we have, asked in a way it has not: 405 with the methods it has. */
class WrongMethod extends Error {
  readonly allow: string;

  constructor(allow: string) {
    super("Method not allowed");
    this.allow = allow;
  }
}

async function answer(request: Request, route: Handle, log: Log): Promise<Response> {
  const dialect = dialectOf(request.headers);
  try {
    return await route(callOf(request));
  } catch (error) {
    if (error instanceof Failure) {
      if (error.status >= 500 && error.code === null) logFailure(error, log);
      return refuse(error, dialect);
    }
    if (error instanceof WrongMethod) {
      const message = `Cannot ${request.method} this path: only ${error.allow} are allowed`;
      return refuse({ status: 405, message, code: null }, dialect, { allow: error.allow });
    }
    log("error", "Unexpected error in the admin interface", {
      method: request.method,
      path: new URL(request.url).pathname,
      error: error instanceof Error ? error.stack ?? error.message : String(error),
    });
    return refuse({ status: 500, message: "Internal error", code: null }, dialect);
  }
}

/** A failure of our own world, such as the store: its cause is for the operator, not the caller. */
function logFailure({ message, cause }: Failure, log: Log): void {
  log("warn", message, { cause: cause instanceof Error ? cause.message : String(cause) });
}

/** Takes the API version off the path. HEAD is asked as GET, and loses its body afterwards. */
function callOf(request: Request): Call {
  const url = new URL(request.url);
  const [prefix, digits] = /^\/v(\d{1,9})(?=\/|$)/.exec(url.pathname) ?? ["", apiVersions.max];
  const apiVersion = Number(digits);
  if (apiVersion === 1) {
    throw Failure.plain(
      400,
      "Unsupported Admin API version V1. This server supports versions between " +
        `V${apiVersions.min} and V${apiVersions.max}`,
    );
  }
  const isKnown = apiVersion >= apiVersions.min && apiVersion <= apiVersions.max;
  if (isKnown) url.pathname = url.pathname.slice(prefix.length);
  const method = request.method === "HEAD" ? "GET" : request.method;
  return { method, url: url.href, apiVersion, request, params: {} };
}

function createRouter(routes: Routes): Handle {
  const router = Router<Call, []>();
  for (const [path, methods] of Object.entries(routes)) {
    for (const [method, handle] of Object.entries(methods)) {
      router[method.toLowerCase()]?.(path, decodeParams, handle);
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
