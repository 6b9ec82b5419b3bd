import { Failure } from "../errors.ts";
import type { Random } from "../ports.ts";
import type { Authenticator, TokenVerifier } from "./authenticator.ts";
import { seal, type Sealed, unseal } from "./sealed_token.ts";
import type { SessionKey, SessionKeys } from "./session_keys.ts";

/** What tokens for calls begin with. */
const PREFIX = "perdure-calls-";
/** How long one counts: the page asks for another with each call that needs it. */
const CALLS_MS = 60_000;

/**
 * A token that may call what `token` may call, for a minute, and nothing else: the playground shows it to
 * the ingress. `now`: milliseconds since the epoch.
 */
export async function callsToken(
  token: string,
  { key, random, now }: {
    readonly key: SessionKey;
    readonly random: Random;
    readonly now: number;
  },
): Promise<Sealed> {
  const until = now + CALLS_MS;
  return { token: PREFIX + await seal({ token, until }, "calls", { key, random }), until };
}

export interface CallsVerifierOptions {
  readonly keys: SessionKeys;
  /** Who shows the token within. */
  readonly identify: Authenticator["identify"];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Asked for tokens of another kind. */
  readonly next: TokenVerifier | undefined;
}

/** Checks tokens for calls. They are of no use to the admin API, and end with the token within. */
export function callsVerifier(
  { keys, identify, now, next }: CallsVerifierOptions,
): TokenVerifier {
  return {
    async verify(shown) {
      if (!shown.startsWith(PREFIX)) return await next?.verify(shown);
      const opened = await opening(() => unseal(shown.slice(PREFIX.length), "calls", keys));
      if (!opened || now() >= opened.until) return undefined;
      const { token, until } = opened;
      try {
        const { name, handlers } = await identify(`Bearer ${token}`, { isSealed: true });
        return { identity: { name, level: "none", handlers }, until };
      } catch (cause) {
        if (cause instanceof Failure && cause.status === 401) return undefined;
        throw cause;
      }
    },
  };
}

async function opening<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (cause) {
    throw Failure.plain(503, "Cannot read the keys of sessions: the store fails", { cause });
  }
}
