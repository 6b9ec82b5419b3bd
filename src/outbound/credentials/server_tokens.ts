import { calculateJwkThumbprint, exportJWK, importPKCS8, type JWK, SignJWT } from "jose";
import { BadKey } from "../identity/private_key.ts";
import type { MintedToken } from "./token_cache.ts";

/** A key that signs, and what others verify with. */
interface SigningKey {
  readonly alg: string;
  readonly key: CryptoKey;
  readonly jwk: JWK & { readonly kid: string };
}

/** The keys of a file: the first one signs, all are published. */
export type SigningKeys = readonly [SigningKey, ...SigningKey[]];

export interface ServerTokenOptions {
  /** `iss` of tokens: the URL below which their keys are found. */
  readonly issuer: string;
  readonly subject: string;
  readonly lifetimeMs: number;
  readonly now: () => number;
}

const PEM = /-----BEGIN PRIVATE KEY-----[\sA-Za-z0-9+/=]*-----END PRIVATE KEY-----/g;
/** How a line break is written where a value must be one line, such as an environment file. */
const SPELLED_BREAK = /\\r|\\n/g;
/** Keys of a file. More are refused. */
const KEYS_MAX = 10;
const ALGORITHMS = ["EdDSA", "RS256", "ES256"] as const;
/** The members of a key that anybody may know. */
const PUBLIC = ["kty", "crv", "x", "y", "n", "e"] as const;

/**
 * Reads private keys in PKCS#8 (PEM): Ed25519, RSA of 2048 bits and more, or P-256. Line breaks may be
 * written `\n`. Rejects with `BadKey`, whose message quotes none.
 */
export async function readSigningKeys(text: string): Promise<SigningKeys> {
  const blocks = text.replaceAll(SPELLED_BREAK, "\n").match(PEM) ?? [];
  if (blocks.length > KEYS_MAX) throw new BadKey(`more than ${KEYS_MAX} keys`);
  const [first, ...rest] = await Promise.all(blocks.map(readKey));
  if (!first) throw new BadKey(`no PEM with a block "PRIVATE KEY"`);
  return [first, ...rest];
}

async function readKey(pem: string): Promise<SigningKey> {
  for (const alg of ALGORITHMS) {
    try {
      const key = await importPKCS8(pem, alg, { extractable: true });
      // A key that is too short is refused here, not with the first token.
      await new SignJWT({}).setProtectedHeader({ alg }).sign(key);
      const all = await exportJWK(key);
      const known = Object.fromEntries(
        PUBLIC.flatMap((name) => all[name] === undefined ? [] : [[name, all[name]]]),
      ) as JWK;
      const kid = await calculateJwkThumbprint(known);
      return { alg, key, jwk: { ...known, kid, alg, use: "sig" } };
    } catch {
      // Of another algorithm, or none at all: the platform does not tell them apart.
    }
  }
  throw new BadKey("not a private key in PKCS#8 of Ed25519, RSA (2048 bits and more) or P-256");
}

/** Makes a token of this server for an audience (docs/security.md#id-tokens). */
export async function mintServerToken(
  [{ alg, key, jwk }]: SigningKeys,
  audience: string,
  { issuer, subject, lifetimeMs, now }: ServerTokenOptions,
): Promise<MintedToken> {
  const issuedAt = Math.floor(now() / 1000);
  const end = issuedAt + Math.floor(lifetimeMs / 1000);
  const text = await new SignJWT({})
    .setProtectedHeader({ alg, kid: jwk.kid, typ: "JWT" })
    .setIssuer(issuer)
    .setSubject(subject)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(end)
    .sign(key);
  return { text, until: end * 1000 };
}

/** The JSON Web Key Set by which tokens of these keys are verified. */
export function keySetOf(keys: SigningKeys): { readonly keys: readonly JWK[] } {
  return { keys: keys.map(({ jwk }) => jwk) };
}
