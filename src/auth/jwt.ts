import {
  createLocalJWKSet,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
} from "jose";
import type { Dial } from "../dial.ts";
import { Failure } from "../errors.ts";
import { limitedLog } from "../observe/limited_log.ts";
import type { Clock, Log } from "../ports.ts";
import { settingUrl } from "../setting_url.ts";
import { WatchedFile } from "../watched_file.ts";
import type { TokenVerifier, Verified } from "./authenticator.ts";
import { BadRole, grantsOf } from "./grants.ts";
import { isOfToken, remoteKeys } from "./remote_keys.ts";

/** Whose JSON Web Tokens are accepted. Without an issuer: none. */
export interface JwtSettings {
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  /** An http or https URL, or the path of a file. */
  readonly keys: string | undefined;
  readonly rolesClaim: string;
  readonly clockSkewMs: number;
}

export interface JwtDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Asks an issuer for its keys, within the egress rules. */
  readonly dial: Dial;
  /** Absent where there are no files. */
  readonly readTextFile?: ((path: string) => Promise<string>) | undefined;
}

/** Signatures by a key that only the issuer has. With `HS…` the key that verifies tokens also makes them. */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];
/** How long a token counts without being verified again: then a key that was withdrawn is noticed. */
const CACHE_MS = 300_000;

/** A verifier whose keys are polled while it is open. */
export interface OpenVerifier extends TokenVerifier {
  close(): void;
}

/**
 * Verifies the JSON Web Tokens of an issuer (docs/security.md#json-web-tokens). Resolves to undefined
 * when none is set. Rejects with `Failure` RT0002 for settings or a file of keys that cannot be used,
 * and RT0038 for a URL where the server may not connect.
 * Keys at a URL are fetched when the first token comes, so that the server starts without its issuer.
 */
export async function openJwt(
  settings: JwtSettings,
  deps: JwtDeps,
): Promise<OpenVerifier | undefined> {
  const { issuer, keys } = settings;
  if (issuer === undefined && keys === undefined) return undefined;
  if (issuer === undefined || keys === undefined) {
    throw new Failure("RT0002", 'Set both or none of "auth.jwt.issuer" and "auth.jwt.keys"');
  }
  if (/^https?:/i.test(keys)) {
    const { clock, dial } = deps;
    const log = limitedLog(deps.log, clock.now);
    const remote = remoteKeys(settingUrl("auth.jwt.keys", keys, dial), { clock, dial, log });
    return { ...verifier(() => remote, settings, deps), close: () => {} };
  }
  const file = keysFile(keys, deps);
  let local = await file.open().catch((cause) => {
    throw new Failure("RT0002", `Cannot read "auth.jwt.keys": ${reasonOf(cause)}`, { cause });
  });
  file.watch((next) => local = next);
  return { ...verifier(() => local, settings, deps), close: () => file.close() };
}

function keysFile(
  path: string,
  { readTextFile, clock, log }: JwtDeps,
): WatchedFile<JWTVerifyGetKey> {
  if (!readTextFile) {
    throw new Failure("RT0002", 'Cannot read "auth.jwt.keys": this platform has no files');
  }
  return new WatchedFile<JWTVerifyGetKey>({
    read: () => readTextFile(path),
    parse: (text) => createLocalJWKSet(JSON.parse(text) as JSONWebKeySet),
    complaint: "Cannot read the keys of the issuer again; the old ones stay in use",
    reasonOf,
    clock,
    log,
  });
}

function verifier(
  keys: () => JWTVerifyGetKey,
  { issuer, audience, rolesClaim, clockSkewMs }: JwtSettings,
  { clock }: JwtDeps,
): TokenVerifier {
  const wanted = {
    algorithms: ALGORITHMS,
    requiredClaims: ["exp"],
    clockTolerance: clockSkewMs / 1000,
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
  };
  return {
    async verify(token): Promise<Verified | undefined> {
      if (token.split(".").length !== 3) return undefined;
      const currentDate = new Date(clock.now());
      let payload: JWTPayload;
      try {
        ({ payload } = await jwtVerify(token, keys(), { ...wanted, currentDate }));
      } catch (cause) {
        if (isOfToken(cause)) return undefined;
        throw Failure.plain(503, "the issuer of tokens cannot be reached. Retry later", { cause });
      }
      return verifiedOf(payload, { rolesClaim, clockSkewMs, now: clock.now() });
    },
  };
}

function verifiedOf(
  payload: JWTPayload,
  { rolesClaim, clockSkewMs, now }: Pick<JwtSettings, "rolesClaim" | "clockSkewMs"> & {
    readonly now: number;
  },
): Verified {
  const until = Math.min((payload.exp ?? 0) * 1000 + clockSkewMs, now + CACHE_MS);
  const name = payload.sub ?? "a token without a subject";
  try {
    return { identity: { name, ...grantsOf(rolesOf(payload[rolesClaim])) }, until };
  } catch (cause) {
    if (!(cause instanceof BadRole)) throw cause;
    throw Failure.plain(403, `the claim "${rolesClaim}" of the token: ${cause.message}`, { cause });
  }
}

/** Other claims that issuers put into the same list are passed over: only our roles are read. */
function rolesOf(claim: unknown): string[] {
  const words = typeof claim === "string" ? claim.split(/\s+/) : Array.isArray(claim) ? claim : [];
  return words.filter((word): word is string => typeof word === "string" && OURS.test(word));
}

const OURS = /^(admin|operator|viewer|invoke(:.*)?)$/;

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
