import type { Authenticator, Client } from "../auth/authenticator.ts";
import { type Called, type Identity, mayCall } from "../auth/grants.ts";
import { Failure } from "../errors.ts";
import type { Inbound } from "./inbound.ts";
import type { Route } from "./path.ts";

/** Routes that tell nothing about invocations. */
const OPEN: ReadonlySet<Route["kind"]> = new Set(["health", "ready", "openapi"]);

/** The identity of a request, or why it has none: routes that are open need none. */
export async function identityOf(
  authenticator: Authenticator,
  authorization: string | undefined,
  client: Client,
): Promise<Identity | Failure> {
  try {
    return await authenticator.identify(authorization, client);
  } catch (cause) {
    if (cause instanceof Failure) return cause;
    throw cause;
  }
}

/** The request with its identity. Throws `Failure` 401 without one, and 403 for a call it may not make. */
export function authorized(inbound: Inbound, route: Route, identity: Identity | Failure): Inbound {
  if (OPEN.has(route.kind)) return inbound;
  if (identity instanceof Failure) throw identity;
  if (route.kind === "call" || route.kind === "send") requireCall(identity, route);
  // Ids of awakeables are given to those who are to complete them. Results are checked once their
  // handler is known.
  else if (identity.handlers.length === 0) throw refused(identity, "call handlers");
  return { ...inbound, identity };
}

/** Throws `Failure` 403 for a handler that an identity may not call. Undefined: no token was asked for. */
export function requireCall(identity: Identity | undefined, called: Called): void {
  if (!identity || mayCall(identity, called)) return;
  const { scope, service, handler = "*" } = called;
  const where = scope === undefined ? "" : ` in the scope "${scope}"`;
  throw refused(identity, `call ${service}/${handler}${where}`);
}

function refused({ name }: Identity, what: string): Failure {
  return Failure.plain(403, `the token "${name}" may not ${what}`);
}
