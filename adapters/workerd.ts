import { WorkerEntrypoint } from "cloudflare:workers";
import { secured } from "../src/admin/ui_headers.ts";
import { Failure } from "../src/errors.ts";
import { isLoopback } from "../src/auth/exposure.ts";
import { type ObjectBindings, objectOf } from "./workerd/partition_object.ts";
import { refusal, type RequestKind } from "./workerd/refusal.ts";
import { type WorkerSettings, workerSettings } from "./workerd/settings.ts";

export { PartitionObject } from "./workerd/partition_object.ts";

/** Ingress and admin API, on one address. */
export default {
  fetch(request: Request, env: ObjectBindings): Response | Promise<Response> {
    const settings = settingsOf(env, request);
    if (settings instanceof Response) return settings;
    const url = new URL(request.url);
    const path = below(url.pathname, settings.adminPrefix);
    if (path === undefined) {
      const partition = nearest(url.pathname, settings.partitions);
      return ask(
        "caller",
        request,
        () => objectOf(env.PARTITION, partition).ingress(request, partition),
      );
    }
    const refusal = isClosed(url, path, settings) && closed(request);
    if (refusal) return secured(path, refusal);
    if (url.pathname === settings.adminPrefix && ["GET", "HEAD"].includes(request.method)) {
      // A relative redirect would leave the prefix.
      const headers = { location: `${url.pathname}/ui/` };
      return secured(path, new Response(null, { status: 308, headers }));
    }
    url.pathname = path;
    return ask("operator", request, () => operators(env).admin(new Request(url, request), 0))
      .then((response) => secured(path, response));
  },
};

/**
 * The admin API alone, at its own paths: for other Workers, which bind it as a service. Who binds it is
 * trusted, so a request without a token gets ours.
 */
export class Admin extends WorkerEntrypoint<ObjectBindings> {
  override fetch(request: Request): Promise<Response> {
    const settings = settingsOf(this.env, request);
    if (settings instanceof Response) return Promise.resolve(settings);
    const trusted = withToken(request, settings);
    return ask("operator", request, () => operators(this.env).admin(trusted, 0));
  }
}

function withToken(request: Request, { adminToken }: WorkerSettings): Request {
  if (adminToken === "" || request.headers.has("authorization")) return request;
  const trusted = new Request(request);
  trusted.headers.set("authorization", `Bearer ${adminToken}`);
  return trusted;
}

const SIDECARS = "/internal/kafka/";

/**
 * Whether the admin API is closed to a request: nothing asks for a token there, and a Worker is on the
 * open network. A deployed Worker never has a name of localhost. Sidecars show a token of their own,
 * which the object checks.
 */
function isClosed({ hostname }: URL, path: string, { needsToken }: WorkerSettings): boolean {
  return !needsToken && !isLoopback(hostname) && !path.startsWith(SIDECARS);
}

function closed(request: Request): Response {
  const message = "the admin API is closed: set the secret SVC_ADMIN__TOKEN and send it as " +
    "bearer token";
  return refusal("operator", request, { status: 403, message });
}

const known = new WeakMap<ObjectBindings, WorkerSettings>();

/** The settings, or the response while they cannot be read. */
function settingsOf(env: ObjectBindings, request: Request): WorkerSettings | Response {
  const before = known.get(env);
  if (before) return before;
  try {
    const settings = workerSettings(env);
    known.set(env, settings);
    return settings;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    const { message, code } = cause;
    return refusal("operator", request, { status: 503, message, code });
  }
}

/** The rest of a path that is below a prefix; undefined when it is elsewhere. */
function below(path: string, prefix: string): string | undefined {
  if (path === prefix) return "/";
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : undefined;
}

/** The object of partition 0 answers the admin API, because it stores the deployments. */
function operators({ PARTITION }: ObjectBindings): ReturnType<typeof objectOf> {
  return objectOf(PARTITION, 0);
}

/**
 * The partition whose object receives a caller's request. Any object can, and forwards it to the
 * partition of its key. Spread by a hash of the path (FNV-1a), so that the requests of one key are
 * received by one object.
 */
function nearest(path: string, partitions: number): number {
  if (partitions === 1) return 0;
  let hash = 0x811c9dc5;
  for (let i = 0; i < path.length; i++) {
    hash = Math.imul(hash ^ path.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0) % partitions;
}

/** Answers 503 when the object fails, such as one that is replaced in the middle of a request. */
async function ask(
  who: RequestKind,
  request: Request,
  answer: () => Promise<Response>,
): Promise<Response> {
  try {
    return await answer();
  } catch (cause) {
    console.warn(JSON.stringify({ level: "warn", message: "No answer", cause: String(cause) }));
    const message = "the partition is not available right now; repeating is safe only with an " +
      "idempotency key";
    return refusal(who, request, { status: 503, message });
  }
}
