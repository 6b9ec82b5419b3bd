import type { Infer } from "superstruct";
import { BadArn, isRoleArn, parseFunctionArn } from "../model/function_arn.ts";
import type { Deployment, Lambda } from "../model/schema.ts";
import { parseAddress } from "./address.ts";
import { Failure } from "../errors.ts";
import { parseHeaders } from "./headers.ts";
import { badField, quote, wrongShape } from "./refusals.ts";
import type { Registration, Update } from "./registration.ts";
import { authField, parseAuth } from "./deployment_auth.ts";
import { fields, flag, headerValues, maybe, text, texts, withDescription } from "./shapes.ts";

const address = {
  uri: withDescription(maybe(text), "Absolute URL of an endpoint. Wins over `arn`."),
  arn: withDescription(maybe(text), "Qualified ARN of a function."),
  assume_role_arn: withDescription(maybe(text), "Role in whose name the function is called."),
  use_http_11: withDescription(
    maybe(flag),
    "Speak HTTP/1.1, for endpoints that know nothing else.",
  ),
  additional_headers: withDescription(
    maybe(headerValues),
    "Sent with discovery and with every attempt. An update that gives `***` for one keeps it.",
  ),
  auth: authField,
  dry_run: withDescription(maybe(flag), "Discover and check, and store nothing."),
};

/**
 * The body of `POST /deployments` (docs/spec/admin.md#registration-of-deployments). Unknown fields
 * are ignored, null is absent.
 */
export const registerBody = fields({
  ...address,
  metadata: withDescription(maybe(texts), "Shown with the deployment."),
  breaking: withDescription(maybe(flag), "Allow services to change their type."),
  force: withDescription(
    maybe(flag),
    "Overwrite the deployment with this address. Implies `breaking`.",
  ),
});

/**
 * The body of PATCH and PUT of a deployment (docs/spec/admin.md#update-of-a-deployment). Absent and
 * null: as it is.
 */
export const updateBody = fields({
  ...address,
  overwrite: withDescription(
    maybe(flag),
    "Take over what the endpoint serves now, whatever it served. Protocol versions must stay.",
  ),
  paused: withDescription(
    maybe(flag),
    "Whether invocations of it wait. What runs goes on until it ends or suspends.",
  ),
});

/**
 * Reads a registration. `force` stands in when the body says nothing about it. Throws a `Failure`:
 * 422 with the path to what is no address or header, 400 for one that cannot be used.
 */
export function parseRegistration(body: Infer<typeof registerBody>, force: boolean): Registration {
  const { uri, arn, assume_role_arn: role } = body;
  if (uri == null && arn == null) throw wrongShape("uri", "expected a string");
  const address = uri != null ? { uri: parseAddress(uri) } : functionAddress(arn ?? "", role);
  const token = parseAuth(body.auth, address.uri);
  return {
    ...address,
    useHttp11: body.use_http_11 ?? false,
    additionalHeaders: parseHeaders(body.additional_headers ?? {}),
    ...(token && token !== "none" && { identityToken: token }),
    metadata: body.metadata ?? {},
    force: body.force ?? force,
    breaking: body.breaking ?? false,
    dryRun: body.dry_run ?? false,
  };
}

/** Whether an update says nothing, but for whether it is paused. */
export function isEmptyUpdate(body: Infer<typeof updateBody>): boolean {
  const names = Object.keys(updateBody.schema) as (keyof typeof body)[];
  return names.every((name) => name === "paused" || body[name] == null);
}

/**
 * Reads an update of a deployment. `services` stands in unless the body says `overwrite`. Throws a
 * `Failure` as `parseRegistration` does, and 400 when it is for another kind of deployment.
 */
export function parseUpdate(
  body: Infer<typeof updateBody>,
  known: Deployment,
  services: "keep" | "extend",
): Update {
  const { use_http_11: useHttp11, additional_headers: headers } = body;
  const address = newAddress(body, known);
  if (!address && known.lambda && useHttp11 != null) throw otherKind("lambda", "http");
  const token = parseAuth(body.auth, address?.uri ?? known.uri);
  return {
    ...(address && { address }),
    ...(useHttp11 != null && { useHttp11 }),
    ...(headers && { additionalHeaders: parseHeaders(headers, known.additionalHeaders) }),
    ...(token && { identityToken: token }),
    services: body.overwrite ? "replace" : services,
    ...(body.paused != null && { paused: body.paused }),
    dryRun: body.dry_run ?? false,
  };
}

function newAddress(
  { uri, arn, assume_role_arn: role }: Infer<typeof updateBody>,
  known: Deployment,
): Update["address"] {
  if (uri != null) return { uri: parseAddress(uri) };
  if (arn != null) return functionAddress(arn, role ?? known.lambda?.assumeRoleArn);
  if (role == null) return undefined;
  if (!known.lambda) throw otherKind("http", "lambda");
  return functionAddress(known.uri, role);
}

function functionAddress(
  arn: string,
  role: string | null | undefined,
): { uri: string; lambda: Lambda } {
  try {
    parseFunctionArn(arn);
  } catch (cause) {
    if (!(cause instanceof BadArn)) throw cause;
    throw badField("arn", cause.message, { cause });
  }
  if (role != null && !isRoleArn(role)) {
    throw badField("assume_role_arn", `${quote(role)} is not the ARN of a role`);
  }
  return { uri: arn, lambda: role == null ? {} : { assumeRoleArn: role } };
}

function otherKind(is: string, asked: string): Failure {
  return Failure.plain(
    400,
    `cannot update the deployment, as the deployment type is ${is} while the update options ` +
      `are for type ${asked}`,
  );
}
