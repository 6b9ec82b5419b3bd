import { Failure } from "../errors.ts";
import { limitedLog } from "../observe/limited_log.ts";
import type { Log } from "../ports.ts";
import { AddressPaces, type WrongTokens } from "./address_paces.ts";
import type { AddressOf } from "./client_address.ts";
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
  /** Beyond these, tokens that were not in use before are refused with 429. */
  readonly wrongTokens: WrongTokens;
  /** Tells clients apart for these. Absent: none is told from others. */
  readonly addressOf?: AddressOf;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
}

/** What is known of a client besides its `authorization` header. It is asked for only where it decides. */
export interface Client {
  /** The certificate that it has shown. Absent: none. */
  readonly certificate?: () => ClientCertificate | undefined;
  /** Its request, whose address decides on the pace of wrong tokens. Absent: that is not known. */
  readonly request?: Request;
  /** Whether this server has sealed the token, which is no guess then. Default: it has not. */
  readonly isSealed?: boolean;
}

/**
 * Tells clients by their bearer tokens. Tokens are looked up by their SHA-256, so the time of a look-up
 * says nothing about a token that is nearly right. A header that was valid is cached: then the answer is
 * there at once, and is not bounded by the pace of wrong tokens.
 */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #paces: AddressPaces;
  readonly #log: Log;
  readonly #known = new Map<string, Verified>();
  #tokens: TokenList;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#tokens = options.tokens;
    this.#paces = new AddressPaces(options.wrongTokens, options.now);
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
    client: Client = {},
  ): Identity | Promise<Identity> {
    if (!authorization) return this.#byCertificate(client.certificate?.());
    const known = this.#known.get(authorization);
    if (known && this.#options.now() < known.until) return known.identity;
    // A token that has been valid before is checked whatever the pace is.
    const address = known || client.isSealed ? undefined : this.#addressOf(client);
    return this.#verify(authorization, address);
  }

  #addressOf({ request }: Client): string {
    return request && this.#options.addressOf?.(request) || "";
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

  /** `address`: whose pace of wrong tokens holds. Undefined: none does. */
  async #verify(authorization: string, address: string | undefined): Promise<Identity> {
    const [, token] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    if (token === undefined) throw Failure.plain(401, MISSING);
    const closed = address === undefined ? undefined : this.#paces.closed(address);
    if (closed) {
      throw Failure.plain(429, `too many wrong tokens from ${closed}. Retry later`);
    }
    const tokens = this.#tokens;
    const identity = tokens.get(await digestOf(token));
    const verified = identity
      ? { identity, until: Infinity }
      : await this.#options.verifier?.verify(token);
    if (!verified) throw this.#wrong(authorization, address);
    if (address !== undefined) this.#paces.trust(address);
    // The list may have been replaced meanwhile.
    if (tokens === this.#tokens) this.#remember(authorization, verified);
    return verified.identity;
  }

  #wrong(authorization: string, address: string | undefined): Failure {
    this.#known.delete(authorization);
    if (address !== undefined) this.#paces.spend(address);
    this.#log("warn", "A request with an unknown token was refused", address ? { address } : {});
    return Failure.plain(401, "the bearer token is unknown or has expired");
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
