import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JWTVerifyGetKey,
} from "jose";
import { collect } from "../collect.ts";
import type { Dial } from "../dial.ts";
import { Failure } from "../errors.ts";
import type { Clock, Log } from "../ports.ts";

/** How long the issuer may take to send its keys. */
const TIMEOUT_MS = 5_000;
const KEYS_BYTES_MAX = 1024 * 1024;
/** After so long the keys are fetched again, so that one that was withdrawn is noticed. */
const REFRESH_MS = 600_000;
/** After a fetch that failed none follows for so long: tokens of strangers would begin one each. */
const BACK_OFF_MS = 5_000;

export interface RemoteKeysDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Asks the egress rules, as for endpoints. */
  readonly dial: Dial;
}

/**
 * The JSON Web Key Set at a URL. It is fetched when the first token comes, again for a key that is not
 * known, and in the background once it is old. Keys that were fetched stay in use while the issuer cannot
 * be reached. Rejects with an error of `jose` for a key that the issuer does not have, and with the failure
 * of the last fetch while it is unknown whether the issuer has it.
 */
export function remoteKeys(url: URL, { clock, log, dial }: RemoteKeysDeps): JWTVerifyGetKey {
  const remote = createRemoteJWKSet(url, {
    timeoutDuration: TIMEOUT_MS,
    cacheMaxAge: Infinity,
    [customFetch]: fetchBy(dial, clock),
  });
  let fetchedAt = clock.now();
  let failure: { readonly cause: unknown; readonly at: number } | undefined;
  const failed = (cause: unknown): void => {
    failure = { cause, at: clock.now() };
    log("warn", "Cannot get the keys of the issuer of tokens", { cause: String(cause) });
  };
  const isFetchable = () => !failure || clock.now() - failure.at >= BACK_OFF_MS;
  const refresh = (): void => {
    fetchedAt = clock.now();
    remote.reload().then(() => void (failure = undefined), failed);
  };
  return async (header, token) => {
    const known = remote.jwks();
    if (known) {
      const isOld = clock.now() - fetchedAt >= REFRESH_MS;
      if ((isOld || failure) && isFetchable() && !remote.reloading) refresh();
      if (failure) {
        return await createLocalJWKSet(known)(header, token).catch(unlessMissing(failure));
      }
    } else if (failure && !isFetchable()) throw failure.cause;
    try {
      const key = await remote(header, token);
      if (!known) fetchedAt = clock.now();
      failure = undefined;
      return key;
    } catch (cause) {
      if (!isOfToken(cause)) failed(cause);
      throw cause;
    }
  };
}

/** Asks an issuer as endpoints are asked. Redirects are not followed. */
function fetchBy(dial: Dial, clock: Clock): FetchImplementation {
  return async (url, { headers }) => {
    const collected = await collect({
      url,
      method: "GET",
      headers: Object.fromEntries(headers),
      version: "h1",
      connectTimeoutMs: TIMEOUT_MS,
    }, { dial, clock, timeoutMs: TIMEOUT_MS, bodyBytesMax: KEYS_BYTES_MAX });
    if (collected.kind === "timeout") throw new Error(`no answer within ${TIMEOUT_MS} ms`);
    if (collected.kind === "failed") {
      const { kind, message } = collected.failure;
      throw kind === "forbidden" ? new Failure("RT0038", message) : new Error(message);
    }
    const { head: { status }, body, cut } = collected;
    if (cut) throw new Error(`the keys are larger than the limit of ${KEYS_BYTES_MAX} bytes`);
    if (status !== 200) return new Response(null, { status });
    return new Response(new TextDecoder().decode(body));
  };
}

/** A key that is not known may be a new one, while no newer keys can be had. */
function unlessMissing({ cause }: { readonly cause: unknown }): (thrown: unknown) => never {
  return (thrown) => {
    throw thrown instanceof errors.JWKSNoMatchingKey ? cause : thrown;
  };
}

/** Whether the token is to blame, and not that the keys cannot be had. */
export function isOfToken(cause: unknown): boolean {
  return cause instanceof errors.JOSEError && !(cause instanceof errors.JWKSTimeout) &&
    cause.code !== "ERR_JOSE_GENERIC" && cause.code !== "ERR_JWKS_INVALID";
}
