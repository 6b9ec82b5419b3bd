import { Failure } from "../errors.ts";
import type { Random } from "../ports.ts";
import type { Authenticator } from "./authenticator.ts";
import type { Identity } from "./grants.ts";
import { type Opened, seal, type Sealed, unseal } from "./sealed_token.ts";
import {
  COOKIE_BYTES_MAX,
  COOKIE_PATH,
  reachedAs,
  sessionCookie,
  sessionsIn,
  withoutSession,
} from "./session_cookie.ts";
import { callsToken } from "./calls_token.ts";
import type { SessionKeys } from "./session_keys.ts";

export interface SessionsOptions {
  readonly authenticator: Pick<Authenticator, "identify">;
  readonly keys: SessionKeys;
  /** How long a session counts, in milliseconds. */
  readonly lifetimeMs: number;
  readonly random: Random;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A session that has begun: what the browser keeps of it. */
export interface Begun {
  /** The value of `set-cookie`. */
  readonly cookie: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/**
 * Sessions of browsers (decision 071). None is kept here: the cookie has the token, encrypted, so that a
 * session ends with its token, and is as good after a restart and in each process of a fleet. Those
 * that were signed out are kept until their time is over (decision 076).
 */
export class Sessions {
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /**
   * Begins a session with a token that is known to be valid. `path`: where the browser finds the admin
   * API, with a slash at its end. Rejects with `Failure` META0021 for a path or a token that no cookie
   * can have, and 503 when the keys cannot be read.
   */
  async begin(
    request: Request,
    { token, path }: { readonly token: string; readonly path: string },
  ): Promise<Begun> {
    const { lifetimeMs, now, random } = this.#options;
    if (!COOKIE_PATH.test(path)) {
      throw new Failure("META0021", "The path must be the one of a URL, and begin with a slash");
    }
    const until = now() + lifetimeMs;
    const key = await reading(() => this.#options.keys.current());
    const value = await seal({ token, until }, "session", { key, random });
    const cookie = sessionCookie({ ...reachedAs(request), value, path, maxAgeMs: lifetimeMs });
    if (cookie.indexOf(";") <= COOKIE_BYTES_MAX) return { cookie, until };
    const size = `a token of ${token.length} characters does not fit into a cookie`;
    throw new Failure("META0021", `Cannot begin a session: ${size}. Use one with fewer claims`);
  }

  /**
   * The session of a request, which may be over. Undefined: it shows none that this server has made.
   * Rejects with `Failure` 503 when the keys cannot be read.
   */
  async find(request: Request): Promise<Opened | undefined> {
    for (const { value } of shownBy(request)) {
      const found = await this.#open(value);
      if (found) return found;
    }
    return undefined;
  }

  /**
   * Who asks, by a session. Rejects with `Failure` META0021 (401) when it is over or its token is no
   * longer valid, and otherwise as `Authenticator.identify` does.
   */
  async identify({ token, until, isEnded }: Opened): Promise<Identity> {
    const { authenticator, now } = this.#options;
    if (now() >= until) throw over("its time is over");
    if (isEnded) throw over("it was signed out");
    try {
      return await authenticator.identify(`Bearer ${token}`, { isSealed: true });
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.status !== 401) throw cause;
      throw over("its token is unknown or has expired", cause);
    }
  }

  /**
   * Ends the sessions of a request, copies of their cookies included. Resolves to values of `set-cookie`
   * that take them away. `path`: as in `begin`. Rejects with `Failure` 503 when that cannot be stored.
   */
  async end(request: Request, path: string): Promise<string[]> {
    const { keys, now } = this.#options;
    const where = COOKIE_PATH.test(path) ? path : "/";
    const shown = shownBy(request);
    for (const { value } of shown) {
      const found = await this.#open(value);
      if (!found || found.until <= now()) continue;
      await reading(() => keys.end(found.key, found.session, found.until));
    }
    return shown.map(({ name }) => withoutSession(name, where));
  }

  /** A token for calls only, which counts for a minute, in place of a token that the page must not have. */
  async callsToken(token: string): Promise<Sealed> {
    const { keys, now, random } = this.#options;
    const key = await reading(() => keys.current());
    return await callsToken(token, { key, random, now: now() });
  }

  async #open(value: string): Promise<Opened | undefined> {
    return await reading(() => unseal(value, "session", this.#options.keys));
  }
}

function shownBy(request: Request): ReturnType<typeof sessionsIn> {
  return sessionsIn(request.headers.get("cookie") ?? "", reachedAs(request));
}

async function reading<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    const message = "Cannot read or change the keys of sessions: the store fails";
    throw Failure.plain(503, message, { cause });
  }
}

function over(why: string, cause?: Failure): Failure {
  const message = `The session has ended: ${why}. Sign in again`;
  return new Failure("META0021", message, { status: 401, ...(cause && { cause }) });
}
