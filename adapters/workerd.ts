import { WorkerEntrypoint } from "cloudflare:workers";
import { Failure } from "../src/errors.ts";
import type { PartitionObject } from "./workerd_object.ts";
import { type Bindings, type WorkerSettings, workerSettings } from "./workerd_settings.ts";

export { PartitionObject } from "./workerd_object.ts";

/** What `wrangler.toml` binds. */
interface Env extends Bindings {
  readonly PARTITION: DurableObjectNamespace<PartitionObject>;
}

/** What callers and operators reach: all of both on one address. */
export default {
  fetch(request: Request, env: Env): Response | Promise<Response> {
    const settings = settingsOf(env);
    if (settings instanceof Response) return settings;
    const url = new URL(request.url);
    const path = below(url.pathname, settings.adminPrefix);
    if (path === undefined) return ask(() => partition(env).ingress(request));
    const refusal = refusalOf(request, url, settings);
    if (refusal) return refusal;
    url.pathname = path;
    return ask(() => partition(env).admin(new Request(url, request)));
  },
};

/** The admin API by itself, at its own paths: for other Workers, which bind it as a service. */
export class Admin extends WorkerEntrypoint<Env> {
  override fetch(request: Request): Promise<Response> {
    return ask(() => partition(this.env).admin(request));
  }
}

const known = new WeakMap<Env, WorkerSettings>();

/** The settings, or what to answer while they cannot be read. */
function settingsOf(env: Env): WorkerSettings | Response {
  const before = known.get(env);
  if (before) return before;
  try {
    const settings = workerSettings(env);
    known.set(env, settings);
    return settings;
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    return Response.json({ message: cause.message }, { status: 503 });
  }
}

/** The rest of a path that is below a prefix; undefined when it is elsewhere. */
function below(path: string, prefix: string): string | undefined {
  if (path === prefix) return "/";
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : undefined;
}

/**
 * Why an operator is not heard. The admin API has no authentication of its own, and a Worker is on
 * the open network. A name of this machine cannot be one of a Worker that was deployed.
 */
function refusalOf(
  { headers }: Request,
  { hostname }: URL,
  { adminToken }: WorkerSettings,
): Response | undefined {
  if (adminToken === "") {
    if (LOCAL.test(hostname)) return undefined;
    const message = "the admin API is closed: set the secret SVC_ADMIN__TOKEN and send it as " +
      "bearer token";
    return Response.json({ message }, { status: 403 });
  }
  if (isEqual(headers.get("authorization") ?? "", `Bearer ${adminToken}`)) return undefined;
  const message = "the admin API asks for a bearer token";
  return Response.json({ message }, { status: 401, headers: { "www-authenticate": "Bearer" } });
}

const LOCAL = /^(localhost|.+\.localhost|127\.0\.0\.1|\[::1\])$/;

/** Takes as long for any two texts of these lengths, so that nobody can guess bit by bit. */
function isEqual(given: string, wanted: string): boolean {
  let difference = given.length ^ wanted.length;
  for (let i = 0; i < wanted.length; i++) {
    difference |= (given.charCodeAt(i) || 0) ^ wanted.charCodeAt(i);
  }
  return difference === 0;
}

/** The one partition there is. */
function partition({ PARTITION }: Env): DurableObjectStub<PartitionObject> {
  return PARTITION.get(PARTITION.idFromName("0"));
}

/** An object that was replaced in the middle of a request has no answer for it. */
async function ask(answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (cause) {
    console.warn(JSON.stringify({ level: "warn", message: "No answer", cause: String(cause) }));
    const message = "the partition is not available right now; repeating is safe only with an " +
      "idempotency key";
    return Response.json({ message }, { status: 503 });
  }
}
