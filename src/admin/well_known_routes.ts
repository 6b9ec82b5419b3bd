import { Failure } from "../errors.ts";
import { ref } from "./openapi/answers.ts";
import { reply } from "./reply.ts";
import type { RouteDoc, Routes } from "./route.ts";

/** By what ID tokens of this server are verified. */
export interface PublishedKeys {
  /** `iss` of the tokens. */
  readonly issuer: string;
  /** A JSON Web Key Set. */
  readonly keySet: object;
}

const JWKS: RouteDoc = {
  id: "id_token_keys",
  tag: "deployment",
  summary: "The keys that verify the ID tokens which this server sends to endpoints",
  answers: { 200: ["A JSON Web Key Set", ref("JsonWebKeySet")] },
  refusals: [404],
};
const CONFIGURATION: RouteDoc = {
  id: "id_token_issuer",
  tag: "deployment",
  summary: "Where verifiers of these tokens find their keys",
  answers: { 200: ["Metadata as of OpenID Connect Discovery", ref("IdTokenIssuer")] },
  refusals: [404],
};

/**
 * The routes by which gateways verify ID tokens (docs/security.md#id-tokens). `published`: undefined
 * where this server makes none; the routes answer 404 then.
 */
export function wellKnownRoutes(
  published: () => PublishedKeys | undefined = () => undefined,
): Routes {
  const known = (): PublishedKeys => {
    const keys = published();
    if (keys) return keys;
    throw Failure.plain(404, 'This server signs no ID tokens ("outbound.id-token.issuer")');
  };
  return {
    "/.well-known/jwks.json": { GET: { ...JWKS, handle: () => reply(200, known().keySet) } },
    "/.well-known/openid-configuration": {
      GET: { ...CONFIGURATION, handle: () => reply(200, configurationOf(known())) },
    },
  };
}

function configurationOf({ issuer, keySet }: PublishedKeys): object {
  const { keys } = keySet as { readonly keys: readonly { readonly alg?: string }[] };
  return {
    issuer,
    jwks_uri: `${issuer.replace(/\/$/, "")}/.well-known/jwks.json`,
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ alg }) => alg))],
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
  };
}
