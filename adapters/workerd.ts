import { WorkerEntrypoint } from "cloudflare:workers";
import { Failure } from "../src/errors.ts";
import { isSameText } from "../src/kafka/token.ts";
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
    const refusal = isOpen(request, path, settings) ? undefined : refusalOf(request, url, settings);
    if (refusal) return refusal;
    if (url.pathname === settings.adminPrefix && request.method === "GET") {
      // A relative redirect would leave the prefix.
      return new Response(null, { status: 308, headers: { location: `${url.pathname}/ui/` } });
    }
    url.pathname = path;
    return ask("operator", request, () => operators(env).admin(new Request(url, request), 0));
  },
};

/** The admin API alone, at its own paths: for other Workers, which bind it as a service. */
export class Admin extends WorkerEntrypoint<ObjectBindings> {
  override fetch(request: Request): Promise<Response> {
    return ask("operator", request, () => operators(this.env).admin(request, 0));
  }
}

const SIDECARS = "/internal/kafka/";

/**
 * Whether a request needs no token of operators. Sidecars show one of their own, which the object checks.
 * The files of the UI hold no data, and ask for the token.
 */
function isOpen({ method }: Request, path: string, { adminToken }: WorkerSettings): boolean {
  if (path.startsWith(SIDECARS)) return true;
  return adminToken !== "" && method === "GET" && UI.test(path);
}

const UI = /^\/(ui(\/.*)?)?$/;

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

/**
 * Why a request to the admin API is refused; undefined: it is not. The API has no authentication of
 * its own, and a Worker is on the open network. A deployed Worker never has a name of localhost.
 */
function refusalOf(
  request: Request,
  { hostname }: URL,
  { adminToken }: WorkerSettings,
): Response | undefined {
  if (adminToken === "") {
    if (LOCAL.test(hostname)) return undefined;
    const message = "the admin API is closed: set the secret SVC_ADMIN__TOKEN and send it as " +
      "bearer token";
    return refusal("operator", request, { status: 403, message });
  }
  if (isSameText(request.headers.get("authorization") ?? "", `Bearer ${adminToken}`)) {
    return undefined;
  }
  const message = "the admin API asks for a bearer token";
  const headers = { "www-authenticate": "Bearer" };
  return refusal("operator", request, { status: 401, message, headers });
}

const LOCAL = /^(localhost|.+\.localhost|127\.0\.0\.1|\[::1\])$/;

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
