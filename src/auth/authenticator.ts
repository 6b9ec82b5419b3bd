import { Failure } from "../errors.ts";
import { limitedLog } from "../observe/limited_log.ts";
import type { Log } from "../ports.ts";
import { AttemptPace } from "./attempt_pace.ts";
import type { ClientCertificate } from "./client_certificate.ts";
import type { Identity } from "./grants.ts";
import { digestOf, type TokenList } from "./token_list.ts";

/** How many headers are cached with the identity they stand for. Beyond it the oldest is dropped. */
const KNOWN_MAX = 10_000;

/** Until when an identity is valid, in milliseconds since the epoch. */
export interface Verified {
  readonly identity: Identity;
  readonly until: number;
}

/** Checks tokens of another kind. */
export interface TokenVerifier {
  /** Undefined: it is no token of this kind, or not valid. Rejects with `Failure` 503 for now. */
  verify(token: string): Promise<Verified | undefined>;
}

export interface AuthenticatorOptions {
  readonly tokens: TokenList;
  /** Asked for tokens that are not in the list. */
  readonly verifier?: TokenVerifier | undefined;
  /** Wrong tokens that are checked in a second. Beyond it unknown tokens are refused with 429. */
  readonly wrongTokensMax: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
}

/**
 * Tells clients by their bearer tokens. Tokens are looked up by their SHA-256, so the time of a look-up
 * says nothing about a token that is nearly right. A header that was valid is cached: then the answer is
 * there at once, and is not bounded by the pace of wrong tokens.
 */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #pace: AttemptPace;
  readonly #log: Log;
  readonly #known = new Map<string, Verified>();
  #tokens: TokenList;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#tokens = options.tokens;
    this.#pace = new AttemptPace(options.wrongTokensMax, options.now);
    this.#log = limitedLog(options.log, options.now);
  }

  /** From now on these tokens count, and no earlier ones. */
  use(tokens: TokenList): void {
    this.#tokens = tokens;
    // Checked again, but still known: a flood of wrong tokens keeps none of these out.
    for (const [header, { identity }] of this.#known) {
      this.#known.set(header, { identity, until: -Infinity });
    }
  }

  /**
   * The identity of a request, by its `authorization` header, or else by the certificate of its client,
   * which is asked for only then. Throws, or rejects with, `Failure` 401
   * for none or a wrong one, 429 when too many wrong ones came, and 503 when it cannot be told now.
   */
  identify(
    authorization: string | null | undefined,
    certificateOf?: () => ClientCertificate | undefined,
  ): Identity | Promise<Identity> {
    if (!authorization) return this.#byCertificate(certificateOf?.());
    const known = this.#known.get(authorization);
    if (known && this.#options.now() < known.until) return known.identity;
    return this.#verify(authorization, known !== undefined);
  }

  #byCertificate(certificate: ClientCertificate | undefined): Identity {
    if (!certificate) throw Failure.plain(401, MISSING);
    for (const key of certificate.keys) {
      const identity = this.#tokens.get(key);
      if (identity) return identity;
    }
    const { name } = certificate;
    throw Failure.plain(401, `the client certificate of "${name}" is not in the list of tokens`);
  }

  /** `wasKnown`: it has been valid before. It is checked whatever the pace is. */
  async #verify(authorization: string, wasKnown: boolean): Promise<Identity> {
    const [, token] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    if (token === undefined) throw Failure.plain(401, MISSING);
    if (!wasKnown && !this.#pace.isOpen) {
      throw Failure.plain(429, "too many wrong tokens. Retry later");
    }
    const tokens = this.#tokens;
    const identity = tokens.get(await digestOf(token));
    const verified = identity
      ? { identity, until: Infinity }
      : await this.#options.verifier?.verify(token);
    if (!verified) {
      this.#known.delete(authorization);
      this.#pace.spend();
      this.#log("warn", "A request with an unknown token was refused");
      throw Failure.plain(401, "the bearer token is unknown or has expired");
    }
    // The list may have been replaced meanwhile.
    if (tokens === this.#tokens) this.#remember(authorization, verified);
    return verified.identity;
  }

  #remember(authorization: string, verified: Verified): void {
    if (this.#known.size >= KNOWN_MAX && !this.#known.has(authorization)) {
      const [oldest] = this.#known.keys();
      this.#known.delete(oldest!);
    }
    this.#known.set(authorization, verified);
  }
}

const MISSING = "this server asks for a token: send the header 'authorization: Bearer <token>'";
