import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

export const AUDIENCE = "perdure";

/** An issuer of JSON Web Tokens that publishes its key. */
export interface Issuer {
  readonly name: string;
  /** The URL of its keys. */
  readonly keys: string;
  /** Signs a token with roles, for a minute unless the claims say otherwise. */
  sign(roles: readonly string[], claims?: JWTPayload): Promise<string>;
  close(): void;
}

/** Starts one on a free port of 127.0.0.1. `query` is part of the URL of its keys. */
export async function startIssuer(query = ""): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const kid = "one";
  const keys = JSON.stringify({ keys: [{ ...await exportJWK(publicKey), kid, alg: "ES256" }] });
  const server = createServer((_, response) => {
    response.setHeader("content-type", "application/json").end(keys);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    name: url,
    keys: `${url}/keys${query}`,
    sign: (roles, claims = {}) =>
      new SignJWT({ iss: url, aud: AUDIENCE, sub: roles.join(" "), roles, ...claims })
        .setProtectedHeader({ alg: "ES256", kid })
        .setExpirationTime(claims.exp ?? "1 min")
        .sign(privateKey),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
