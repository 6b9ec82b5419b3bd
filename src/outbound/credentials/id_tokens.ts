import type { IdentityToken } from "../../model/endpoint_credentials.ts";
import { CannotAuthenticate } from "./cannot_authenticate.ts";
import {
  type GoogleTokenDeps,
  mintGoogleToken,
  readServiceAccount,
  type ServiceAccount,
} from "./google_tokens.ts";
import {
  type OpenSecret,
  openSecret,
  type SecretDeps,
  type SecretSettings,
} from "./secret_text.ts";
import {
  keySetOf,
  mintServerToken,
  readSigningKeys,
  type ServerTokenOptions,
  type SigningKeys,
} from "./server_tokens.ts";
import { TokenCache } from "./token_cache.ts";
import { Failure } from "../../errors.ts";

export interface IdTokenSettings {
  /** The key of a service account. */
  readonly google: SecretSettings;
  /** The key of this server's own tokens. */
  readonly key: SecretSettings;
  /** Undefined: this server signs no tokens. */
  readonly issuer: string | undefined;
  readonly subject: string;
  readonly lifetimeMs: number;
  readonly connectTimeoutMs: number;
  readonly timeoutMs: number;
}

export type IdTokenDeps = SecretDeps & Pick<GoogleTokenDeps, "dial">;

/** What verifies the tokens of this server. */
export interface PublishedKeys {
  readonly issuer: string;
  readonly keySet: object;
}

/** How many audiences have a token at once, of each issuer. */
const TOKENS_MAX = 1000;

/** The ID tokens of requests to endpoints (docs/security.md#id-tokens). */
export class IdTokens {
  readonly #google: TokenCache;
  readonly #server: TokenCache;
  readonly #deps: GoogleTokenDeps;
  readonly #options: ServerTokenOptions | undefined;
  readonly #secrets: readonly (OpenSecret<unknown> | undefined)[];
  #account: ServiceAccount | undefined;
  #keys: SigningKeys | undefined;

  private constructor(
    { issuer, subject, lifetimeMs, connectTimeoutMs, timeoutMs }: IdTokenSettings,
    { dial, clock, log }: IdTokenDeps,
    secrets: readonly [OpenSecret<ServiceAccount> | undefined, OpenSecret<SigningKeys> | undefined],
  ) {
    const now = () => clock.now();
    this.#google = new TokenCache({ now, log, tokensMax: TOKENS_MAX });
    this.#server = new TokenCache({ now, log, tokensMax: TOKENS_MAX });
    this.#deps = { dial, clock, connectTimeoutMs, timeoutMs };
    this.#options = issuer === undefined ? undefined : { issuer, subject, lifetimeMs, now };
    this.#secrets = secrets;
    const [account, keys] = secrets;
    this.#account = account?.value;
    this.#keys = keys?.value;
    account?.watch((value) => {
      this.#account = value;
      this.#google.clear();
    });
    keys?.watch((value) => {
      this.#keys = value;
      this.#server.clear();
      log("info", "ID tokens are signed with another key", { keySet: keySetOf(value) });
    });
  }

  /** Reads the keys. Rejects with `Failure` RT0002 that names the setting and quotes no key. */
  static async open(settings: IdTokenSettings, deps: IdTokenDeps): Promise<IdTokens> {
    const { issuer, key, google } = settings;
    const hasKey = key.text !== undefined || key.file !== undefined;
    if (hasKey !== (issuer !== undefined)) {
      const why =
        `"outbound.id-token.issuer" and a key of its tokens are set together or not at all`;
      throw new Failure("RT0002", why);
    }
    const secrets = await Promise.all([
      openSecret(google, { ...deps, parse: readServiceAccount }),
      openSecret(key, { ...deps, parse: readSigningKeys }),
    ]);
    return new IdTokens(settings, deps, secrets);
  }

  /** The keys that verify own tokens. Undefined: there are none. */
  get published(): PublishedKeys | undefined {
    if (!this.#keys || !this.#options) return undefined;
    return { issuer: this.#options.issuer, keySet: keySetOf(this.#keys) };
  }

  /** Why there are no tokens of an issuer, and what to set. Undefined: there are. */
  missing(issuer: IdentityToken["issuer"]): string | undefined {
    if (issuer === "google") {
      return this.#account ? undefined : "This process has no key of a service account to get ID " +
        'tokens with: set "outbound.id-token.google-key-file"';
    }
    return this.#keys ? undefined : "This process has no key to sign ID tokens with: set " +
      '"outbound.id-token.issuer" and "outbound.id-token.private-key-pem-file"';
  }

  /** Synchronously while one is cached. Throws or rejects with `CannotAuthenticate`. */
  token({ issuer, audience }: IdentityToken): string | Promise<string> {
    const [account, keys, options] = [this.#account, this.#keys, this.#options];
    if (issuer === "google" && account) {
      return this.#google.token(audience, () => mintGoogleToken(account, audience, this.#deps));
    }
    if (issuer === "server" && keys && options) {
      return this.#server.token(audience, () => mintServerToken(keys, audience, options));
    }
    throw new CannotAuthenticate(this.missing(issuer) ?? "there is no ID token");
  }

  /** Stops polling the files of keys. */
  close(): void {
    for (const secret of this.#secrets) secret?.close();
  }
}
