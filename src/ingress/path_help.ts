import { Failure } from "../errors.ts";
import type { Dialect } from "../names.ts";

/**
 * First segments of the admin API's paths: a request for them on the ingress has the wrong port.
 */
const OF_ADMIN: ReadonlySet<string> = new Set([
  "cluster-health",
  "deployments",
  "health",
  "internal",
  "invocations",
  "metrics",
  "query",
  "services",
  "ui",
  "version",
]);
/** Characters of an invalid id that a refusal shows. */
const SHOWN_MAX = 100;
const EXAMPLE = "inv_17kO36pqgIap3xDjDhLpCIiunpzEd8hWuT";

/** The sentence after a refusal of a path whose first segment is the admin API's. May be empty. */
export function adminHint(segment: string | undefined): string {
  if (segment === undefined || !OF_ADMIN.has(segment)) return "";
  return `; /${segment} is a path of the admin API, which has a port of its own (by default 9070)`;
}

/** A path that has too few or too many segments for any route. `segment`: its first one. */
export function badPathOf(path: string, segment: string | undefined): Failure {
  const hint = adminHint(segment) || "; a call is POST /svc/call/:service/:handler, and " +
      "GET /openapi describes all paths";
  return Failure.plain(400, `bad path: ${path}${hint}`);
}

/**
 * A path of ours that fits no route (docs/spec/ingress.md#errors), and behind it the forms that
 * text leaves out.
 */
export function badReserved(dialect: Dialect): Failure {
  const at = (tail: string) => `/${dialect}/${tail}`;
  const known = ["call/:service/:handler", "send/:service/:handler"]
    .concat(
      "scope/:scope/call/:service/:handler",
      "attach/:invocation_id",
      "output/:invocation_id",
    );
  return Failure.plain(
    400,
    `bad path, expected ${known.map(at).join(", ")}, or ${at("lookup")}; objects and workflows ` +
      `take a key: ${at("call/:object/:key/:handler")}; awakeables are completed at ` +
      `${at("awakeables/:id/resolve")} and ${
        at("awakeables/:id/reject")
      }; GET /openapi describes all`,
  );
}

/**
 * Text where an invocation id was expected (docs/spec/ingress.md#errors), and what one looks like.
 */
export function badInvocationId(id: string, cause: Error): Failure {
  const shown = id.length > SHOWN_MAX ? `${id.slice(0, SHOWN_MAX)}…` : id;
  return Failure.plain(
    400,
    `bad invocation id '${shown}': ${cause.message}; an invocation id looks like ${EXAMPLE}`,
    { cause },
  );
}
