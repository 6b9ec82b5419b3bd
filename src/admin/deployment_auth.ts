import type { Infer } from "superstruct";
import type { IdentityToken } from "../model/endpoint_credentials.ts";
import { badField, quote } from "./refusals.ts";
import { fields, maybe, text, withDescription } from "./shapes.ts";

const audience = withDescription(
  maybe(text),
  "For whom the token is. Absent: the scheme, host and port of the `uri`.",
);
const headerOf = (fallback: string) =>
  withDescription(
    maybe(text),
    `The header that carries it, behind \`Bearer\`. Absent: \`${fallback}\`.`,
  );

/** Google's gateways take a token out of this header, so that `authorization` is left to the endpoint. */
const GOOGLE_HEADER = "x-serverless-authorization";
const SERVER_HEADER = "authorization";
const AUDIENCE_CHARS_MAX = 1024;

/** `auth` of a deployment, as it is asked for and shown (docs/spec/admin.md#id-tokens). */
export const authStruct = fields({
  GoogleIdToken: withDescription(
    maybe(fields({
      audience,
      header: headerOf(GOOGLE_HEADER),
      impersonate_service_account: withDescription(maybe(text), "Not available: refused."),
    })),
    "A token of the service account whose key the server has.",
  ),
  ServerIdToken: withDescription(
    maybe(fields({ audience, header: headerOf(SERVER_HEADER) })),
    "A token that the server signs with its own key.",
  ),
});

export const authField = withDescription(
  maybe(authStruct),
  "The ID token that requests to the endpoint carry. Empty: none.",
);

/**
 * Reads `auth`. `uri`: of the deployment, whose origin is the audience unless it is named. Undefined: the
 * body says nothing. Throws a `Failure` 400 for what cannot be used.
 */
export function parseAuth(
  auth: Infer<typeof authField>,
  uri: string,
): IdentityToken | "none" | undefined {
  if (auth == null) return undefined;
  const { GoogleIdToken: google, ServerIdToken: server } = auth;
  if (google && server) throw badField("auth", "It names more than one token");
  if (google?.impersonate_service_account != null) {
    throw badField(
      "auth",
      "A service account cannot be impersonated: use its own key",
    );
  }
  const given = google ?? server;
  if (!given) return "none";
  if (!/^https?:/.test(uri)) throw badField("auth", "A function takes no ID token");
  return {
    issuer: google ? "google" : "server",
    audience: checkAudience(given.audience ?? new URL(uri).origin),
    header: headerName(given.header ?? (google ? GOOGLE_HEADER : SERVER_HEADER)),
  };
}

function checkAudience(text: string): string {
  if (text !== "" && text.length <= AUDIENCE_CHARS_MAX) return text;
  throw badField("auth", `The audience needs between 1 and ${AUDIENCE_CHARS_MAX} characters`);
}

function headerName(text: string): string {
  const name = text.toLowerCase();
  if (/^(x-[a-z0-9-]+|authorization|proxy-authorization)$/.test(name)) return name;
  throw badField(
    "auth",
    `${quote(name)} cannot carry a token: name authorization, or a header that begins with x-`,
  );
}
