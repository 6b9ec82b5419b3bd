import { assert } from "../assert.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import type { CertificateOf } from "../auth/client_certificate.ts";
import { type Identity, isAtLeast, type Level } from "../auth/grants.ts";
import type { Opened } from "../auth/sealed_token.ts";
import type { Sessions } from "../auth/sessions.ts";
import { Failure } from "../errors.ts";
import { checkBrowser } from "./browser_check.ts";
import { checkSessionUse } from "./session_check.ts";

/**
 * What a route asks of a client, where tokens are asked for. `open`: nothing. `sidecar`: the token of
 * Kafka sidecars, which the route checks itself.
 */
export type Access = "open" | "sidecar" | "viewer" | "operator" | "admin";

/** Every route, as `router.ts` names it. A route that is not here ends the start. */
export const ACCESS: Readonly<Record<string, Access>> = {
  "GET /health": "open",
  "GET /ready": "open",
  "GET /openapi": "open",
  "GET /.well-known/jwks.json": "open",
  "GET /.well-known/openid-configuration": "open",
  // They check what they are given.
  "POST /internal/ui/session": "open",
  "DELETE /internal/ui/session": "open",
  "GET /cluster-health": "viewer",
  "GET /version": "viewer",
  "GET /metrics": "viewer",
  "POST /query": "viewer",
  "GET /internal/ui/events": "viewer",
  "GET /internal/ui/session": "viewer",
  "POST /internal/ui/calls-token": "viewer",
  "GET /deployments": "viewer",
  "GET /deployments/:deployment": "viewer",
  "GET /services": "viewer",
  "GET /services/:service": "viewer",
  "GET /services/:service/openapi": "viewer",
  "GET /services/:service/handlers": "viewer",
  "GET /services/:service/handlers/:handler": "viewer",
  "POST /internal/services/:service/serdes/decode/:serde+": "viewer",
  "POST /internal/services/:service/serdes/encode/:serde+": "viewer",
  "GET /subscriptions": "viewer",
  "GET /subscriptions/:subscription": "viewer",
  "GET /kafka-clusters": "viewer",
  "GET /kafka-clusters/:cluster_name": "viewer",
  "DELETE /invocations/:invocation_id": "operator",
  "PATCH /invocations/:invocation_id/cancel": "operator",
  "PATCH /invocations/:invocation_id/kill": "operator",
  "PATCH /invocations/:invocation_id/pause": "operator",
  "PATCH /invocations/:invocation_id/purge": "operator",
  "PATCH /invocations/:invocation_id/purge-journal": "operator",
  "PATCH /invocations/:invocation_id/resume": "operator",
  "PATCH /invocations/:invocation_id/restart-as-new": "operator",
  "POST /internal/invocations_batch_operations/cancel": "operator",
  "POST /internal/invocations_batch_operations/kill": "operator",
  "POST /internal/invocations_batch_operations/pause": "operator",
  "POST /internal/invocations_batch_operations/purge": "operator",
  "POST /internal/invocations_batch_operations/purge-journal": "operator",
  "POST /internal/invocations_batch_operations/resume": "operator",
  "POST /internal/invocations_batch_operations/restart-as-new": "operator",
  "POST /services/:service/state": "operator",
  "POST /internal/services/:service/promises/resolve": "operator",
  "POST /internal/services/:service/promises/reject": "operator",
  "POST /vqueues/:vqueue_id/pause": "operator",
  "POST /vqueues/:vqueue_id/resume": "operator",
  "POST /deployments": "admin",
  "PATCH /deployments/:deployment": "admin",
  "PUT /deployments/:deployment": "admin",
  "DELETE /deployments/:deployment": "admin",
  "PATCH /services/:service": "admin",
  "PATCH /services/:service/handlers/:handler": "admin",
  "PUT /limits/rules": "admin",
  "POST /limits/rules/bulk-delete": "admin",
  "POST /subscriptions": "admin",
  "PATCH /subscriptions/:subscription": "admin",
  "DELETE /subscriptions/:subscription": "admin",
  "POST /subscriptions/:subscription/skip": "admin",
  "POST /kafka-clusters": "admin",
  "PATCH /kafka-clusters/:cluster_name": "admin",
  "DELETE /kafka-clusters/:cluster_name": "admin",
  "GET /internal/kafka/plan": "sidecar",
  "POST /internal/kafka/records": "sidecar",
  "POST /internal/kafka/letters": "sidecar",
  "POST /internal/kafka/reports": "sidecar",
};

/** What a route asks of a client. Throws `Bug` for one without an entry. */
export function accessOf(route: string): Access {
  const access = ACCESS[route];
  assert(access !== undefined, `The route "${route}" needs an entry in ACCESS`);
  return access;
}

/** What becomes of a request in the audit (docs/security.md#audit). `query`: recorded if a setting says so. */
export type Audited = "change" | "query" | "nothing";

/** Routes that are no GET and change nothing that operators own. */
const NO_CHANGE: Readonly<Record<string, Audited>> = {
  "POST /query": "query",
  "POST /internal/services/:service/serdes/decode/:serde+": "nothing",
  "POST /internal/services/:service/serdes/encode/:serde+": "nothing",
  "POST /internal/ui/calls-token": "nothing",
  // What sidecars do all the time: records of Kafka and their reports.
  "POST /internal/kafka/records": "nothing",
  "POST /internal/kafka/letters": "nothing",
  "POST /internal/kafka/reports": "nothing",
};

/** Whether requests of a route are recorded: all are that may change something. */
export function auditedOf(route: string): Audited {
  return route.startsWith("GET ") ? "nothing" : NO_CHANGE[route] ?? "change";
}

export interface PermitOptions {
  /** Checks tokens. Absent: none is asked for. */
  readonly authenticator?: Authenticator | undefined;
  /** Sessions of the UI, where tokens are checked. Absent: there are none. */
  readonly sessions?: Sessions | undefined;
  /** Absent: clients show no certificates. */
  readonly certificateOf?: CertificateOf | undefined;
  /** As in `BrowserCheckOptions`. Default: none. */
  readonly allowedHosts?: readonly string[];
}

interface Known {
  /** Is called with the name of the client once it is known, also of one that may not pass. */
  readonly known: (name: string) => void;
}

/**
 * Lets a request pass and answers what it may do, or throws `Failure` 401 without a valid token, 403 when its roles do not include
 * the route or a browser should not have sent it, 429 and 503 as `Authenticator` does, and META0021
 * for a session that has ended or is not for this request.
 */
export async function permit(
  request: Request,
  access: Access,
  { authenticator, sessions, certificateOf, allowedHosts = [], known }: PermitOptions & Known,
): Promise<Level> {
  if (access === "open" || access === "sidecar") return "none";
  if (!authenticator) known("none");
  checkBrowser(request, { allowedHosts, needsToken: authenticator !== undefined });
  if (!authenticator) return "admin";
  const session = await sessionOf(request, sessions);
  const { name, level } = session
    ? await sessions!.identify(session)
    : await authenticator.identify(request.headers.get("authorization"), {
      certificate: () => certificateOf?.(request),
      request,
    });
  known(name);
  if (isAtLeast(level, access)) return level;
  throw missingRole({ name, level }, access);
}

/** The session that a request shows, if it shows no token: that one is added by a program on purpose. */
async function sessionOf(
  request: Request,
  sessions: Sessions | undefined,
): Promise<Opened | undefined> {
  if (!sessions || request.headers.has("authorization")) return undefined;
  const session = await sessions.find(request);
  if (session) checkSessionUse(request);
  return session;
}

/** A client whose roles do not include what it asks for: 403. */
export function missingRole(
  { name, level }: Pick<Identity, "name" | "level">,
  access: Access,
): Failure {
  const has = level === "none" ? "has no role of the admin API" : `has the role ${level}`;
  return Failure.plain(403, `this needs the role ${access}, and the token "${name}" ${has}`);
}
