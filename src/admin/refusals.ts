import { Failure } from "../errors.ts";
import type { Deployment, ServiceSchema } from "../model/schema.ts";
import { shownUri } from "../outbound/shown_uri.ts";

const QUOTED_MAX = 200;

/** A string from outside, quoted and cut to 200 characters, so that it is safe in a message. */
export function quote(text: string): string {
  return `'${text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text}'`;
}

/**
 * A field has the right type and a value that cannot be used: 400 (docs/spec/admin.md#requests).
 */
export function badField(field: string, reason: string, options?: ErrorOptions): Failure {
  return Failure.plain(400, `The request field '${field}' is invalid. Reason: ${reason}`, options);
}

/** A query parameter cannot be used: 400 (docs/spec/admin.md#operations-on-invocations). */
export function badQuery(name: string, reason: string, options?: ErrorOptions): Failure {
  return Failure.plain(400, `The query parameter '${name}' is invalid. Reason: ${reason}`, options);
}

/**
 * JSON that is not what the operation takes: 422, with the path to what is wrong
 * (docs/spec/admin.md#requests).
 */
export function wrongShape(path: string, reason: string, options?: ErrorOptions): Failure {
  const where = path === "" ? "" : `at ${quote(path)}, `;
  return Failure.plain(422, `Cannot use the request body: ${where}${reason}`, options);
}

/** A thing named in the path does not exist: 404 (docs/spec/admin.md#requests). */
export function missing(kind: "deployment" | "invocation" | "service", name: string): Failure {
  return Failure.plain(404, `The requested ${kind} ${quote(name)} does not exist`);
}

/** A handler that a known service does not have: 404, with those it has. */
export function missingHandler({ name, handlers }: ServiceSchema, handler: string): Failure {
  const names = Object.keys(handlers).slice(0, NAMES_MAX).map(quote).join(", ");
  return Failure.plain(
    404,
    `The requested handler ${quote(handler)} on service ${quote(name)} does not exist; ` +
      (names === "" ? "the service has none" : `it has ${names}`),
  );
}

/** Handlers that a refusal lists. */
const NAMES_MAX = 20;

/**
 * Overwriting one of several deployments with an address: META0017
 * (docs/spec/admin.md#registration-of-deployments).
 */
export function sharedAddress(known: readonly Deployment[]): Failure {
  const ids = known.map(({ id }) => `'${id}'`).join(", ");
  return new Failure(
    "META0017",
    `Cannot overwrite the deployment at '${
      shownUri(known[0]?.uri ?? "")
    }': ${ids} share this address, ` +
      "delete all but one of them first",
  );
}

/** What may still need a deployment. */
export interface Needs {
  /** Those whose latest revision it holds. */
  readonly services: readonly string[];
  /** Invocations that are not completed and run on it. Undefined: they cannot be counted. */
  readonly pinned: number | undefined;
}

/**
 * Deleting a deployment that is needed: 409, with what needs it
 * (docs/spec/admin.md#deletion-of-a-deployment).
 */
export function stillNeeded(id: string, { services, pinned }: Needs): Failure {
  const why = services.length > 0
    ? `it serves the latest revision of ${services.map(quote).join(", ")}`
    : pinned === undefined
    ? "invocations may still be pinned to it"
    : `${pinned} invocations are still pinned to it`;
  return Failure.plain(409, `Cannot delete deployment '${id}': ${why}; repeat with 'force=true'`);
}

/**
 * An address that is known serves something else than it is known for: META0004
 * (docs/spec/admin.md#registration-of-deployments).
 */
export function differs({ id, uri }: Deployment): Failure {
  return new Failure(
    "META0004",
    `Cannot register '${
      shownUri(uri)
    }': deployment '${id}' has this address and serves something else; ` +
      "use a new address, or overwrite it with force",
  );
}

/** The store did not take a change, or it is not known whether it did. `what`: such as `register a deployment`. */
export function unwritable(what: string, cause: unknown): Failure {
  return Failure.plain(503, `Cannot ${what}: the store cannot be written`, { cause });
}
