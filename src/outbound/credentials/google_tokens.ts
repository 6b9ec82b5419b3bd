import { decodeJwt, importPKCS8, SignJWT } from "jose";
import type { Dial, DialRequest } from "../../dial.ts";
import type { Clock } from "../../ports.ts";
import { collect, type Collected } from "../../collect.ts";
import { BadKey } from "../identity/private_key.ts";
import { encodePart } from "../percent.ts";
import { CannotAuthenticate } from "./cannot_authenticate.ts";
import type { MintedToken } from "./token_cache.ts";

/** The key of a service account, as its JSON file has it. */
export interface ServiceAccount {
  readonly email: string;
  readonly keyId: string | undefined;
  readonly key: CryptoKey;
  /** Where its assertions become tokens. */
  readonly tokenUrl: string;
}

export interface GoogleTokenDeps {
  /** Asks the egress rules, as for endpoints. */
  readonly dial: Dial;
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
  readonly timeoutMs: number;
}

const ANSWER_BYTES_MAX = 64 * 1024;
const REASON_CHARS_MAX = 200;
/** How long an assertion may be used. The token endpoint takes an hour at most. */
const ASSERTION_S = 300;
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** Reads the JSON of a service account's key. Rejects with `BadKey`, whose message quotes nothing. */
export async function readServiceAccount(text: string): Promise<ServiceAccount> {
  const { client_email: email, private_key: pem, private_key_id: keyId, token_uri: tokenUrl } =
    membersOf(text);
  if (!email || !pem || !tokenUrl) {
    throw new BadKey("it lacks one of client_email, private_key and token_uri");
  }
  if (!URL.canParse(tokenUrl) || !/^https?:/i.test(tokenUrl)) {
    throw new BadKey("its token_uri is not an http or https URL");
  }
  try {
    return { email, keyId, key: await importPKCS8(pem, "RS256"), tokenUrl };
  } catch (cause) {
    throw new BadKey("its private_key is not an RSA key in PKCS#8 (PEM)", { cause });
  }
}

function membersOf(text: string): Readonly<Record<string, string | undefined>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new BadKey("not JSON, as the key of a service account is", { cause });
  }
  if (typeof value !== "object" || value === null) throw new BadKey("not an object in JSON");
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => typeof member === "string"),
  );
}

/**
 * Has the token endpoint of a service account make an ID token for an audience (RFC 7523). Rejects with
 * `CannotAuthenticate` that says what the endpoint answered, without any token.
 */
export async function mintGoogleToken(
  account: ServiceAccount,
  audience: string,
  { dial, clock, connectTimeoutMs, timeoutMs }: GoogleTokenDeps,
): Promise<MintedToken> {
  const assertion = await assertionOf(account, audience, clock.now());
  const body = new TextEncoder().encode(
    `grant_type=${encodePart(GRANT)}&assertion=${encodePart(assertion)}`,
  );
  const request: DialRequest = {
    url: new URL(account.tokenUrl).href,
    method: "POST",
    headers: {
      accept: "application/json",
      "content-type": "application/x-www-form-urlencoded",
      "content-length": String(body.length),
    },
    version: "h1",
    connectTimeoutMs,
  };
  const limits = { timeoutMs, bodyBytesMax: ANSWER_BYTES_MAX };
  const collected = await collect(request, { dial, clock, body, ...limits });
  const refused = (why: string) => {
    const { origin } = new URL(account.tokenUrl);
    return new CannotAuthenticate(`${origin} makes no ID token for "${audience}": ${why}`);
  };
  const problem = problemOf(collected, timeoutMs);
  if (problem !== undefined) throw refused(problem);
  const token = collected.kind === "answer" ? fieldOf(collected.body, "id_token") : undefined;
  const until = token === undefined ? undefined : endOf(token);
  if (token === undefined || until === undefined) throw refused("its answer has no token");
  if (until <= clock.now()) throw refused("its token has already expired; check both clocks");
  return { text: token, until };
}

async function assertionOf(
  { email, keyId, key, tokenUrl }: ServiceAccount,
  audience: string,
  now: number,
): Promise<string> {
  const issuedAt = Math.floor(now / 1000);
  return await new SignJWT({ target_audience: audience })
    .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(keyId !== undefined && { kid: keyId }) })
    .setIssuer(email)
    .setSubject(email)
    .setAudience(tokenUrl)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ASSERTION_S)
    .sign(key);
}

function problemOf(collected: Collected, timeoutMs: number): string | undefined {
  if (collected.kind === "timeout") return `no answer within ${timeoutMs} ms`;
  if (collected.kind === "failed") return collected.failure.message;
  const { head: { status }, body } = collected;
  if (status === 200) return undefined;
  const reason = fieldOf(body, "error_description") ?? fieldOf(body, "error") ?? "no reason given";
  // An endpoint may quote what it was sent.
  return `status ${status}: ${reason.replaceAll(/eyJ[\w.-]*/g, "…").slice(0, REASON_CHARS_MAX)}`;
}

function fieldOf(body: Uint8Array, name: string): string | undefined {
  try {
    const value = (JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>)[name];
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** When a token ends, in milliseconds since the epoch. Undefined: it is none that a header can carry. */
function endOf(token: string): number | undefined {
  if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return undefined;
  try {
    const { exp } = decodeJwt(token);
    return exp === undefined ? undefined : exp * 1000;
  } catch {
    return undefined;
  }
}
