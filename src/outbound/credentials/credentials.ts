import { assert } from "../../assert.ts";
import type { Dial, DialListener, DialRequest, Exchange } from "../../dial.ts";
import { Failure } from "../../errors.ts";
import type { AdditionalHeaders, IdentityToken } from "../../model/endpoint_credentials.ts";
import { failedExchange, PendingExchange } from "../../pending_exchange.ts";
import { CannotAuthenticate } from "./cannot_authenticate.ts";
import type { IdTokens } from "./id_tokens.ts";
import { isOfOwnNetwork } from "./own_network.ts";
import { hasReference, type Variables } from "./variables.ts";

/** The part of a deployment that says what its requests show. */
export interface Authenticated {
  readonly uri: string;
  readonly additionalHeaders: AdditionalHeaders;
  readonly identityToken?: IdentityToken | undefined;
}

type Headers = Readonly<Record<string, string>>;

/** What requests to endpoints show that is not stored with their deployments. */
export class Credentials {
  readonly #variables: Variables;
  readonly #tokens: IdTokens;

  constructor(variables: Variables, tokens: IdTokens) {
    this.#variables = variables;
    this.#tokens = tokens;
  }

  /** Throws `Failure` META0019 for what this server cannot show, or should not send to this address. */
  check({ uri, additionalHeaders, identityToken }: Authenticated): void {
    this.#variables.check(additionalHeaders);
    if (!identityToken) return;
    const { header, issuer } = identityToken;
    const problem = this.#tokens.missing(issuer);
    if (problem !== undefined) throw new Failure("META0019", problem);
    if (Object.hasOwn(additionalHeaders, header)) {
      throw new Failure(
        "META0019",
        `"additional_headers" has "${header}", which carries the ID token`,
      );
    }
    if (/^https:/i.test(uri) || isOfOwnNetwork(new URL(uri).hostname)) return;
    throw new Failure("META0019", "An ID token is sent by https only, but within the own network");
  }

  /** The headers, synchronously while tokens are cached. Throws or rejects with `CannotAuthenticate`. */
  headersOf({ additionalHeaders, identityToken }: Authenticated): Headers | Promise<Headers> {
    const found = this.#variables.resolve(additionalHeaders);
    if (!identityToken) return found;
    const carried = (token: string) => ({ ...found, [identityToken.header]: `Bearer ${token}` });
    const token = this.#tokens.token(identityToken);
    return typeof token === "string" ? carried(token) : token.then(carried);
  }
}

/**
 * A dial whose requests show what their deployment says: the same one where that is nothing more than
 * stored headers. An exchange whose credentials cannot be had fails as `unauthenticated`, and is never
 * opened.
 */
export function withCredentials(
  dial: Dial,
  to: Authenticated,
  credentials: Credentials | undefined,
): Dial {
  if (!to.identityToken && !hasReference(to.additionalHeaders)) return dial;
  assert(credentials, "What calls endpoints must have the credentials for them");
  return {
    open: (request, listener) => openWith(dial, request, { listener, to, credentials }),
    close: () => dial.close(),
  };
}

function openWith(
  dial: Dial,
  request: DialRequest,
  { listener, to, credentials }: {
    readonly listener: DialListener;
    readonly to: Authenticated;
    readonly credentials: Credentials;
  },
): Exchange {
  // What the server itself says in a header, such as a signature, is not replaced.
  const shown = (headers: Headers) => ({ ...request, headers: { ...headers, ...request.headers } });
  let headers: Headers | Promise<Headers>;
  try {
    headers = credentials.headersOf(to);
  } catch (cause) {
    return failedExchange(listener, failureOf(cause));
  }
  if (!(headers instanceof Promise)) return dial.open(shown(headers), listener);
  const pending = new PendingExchange(listener);
  headers.then(
    (found) => pending.connect((inner) => dial.open(shown(found), inner)),
    (cause) => pending.fail(failureOf(cause)),
  );
  return pending;
}

function failureOf(cause: unknown) {
  // Another message could quote a key.
  const isKnown = cause instanceof CannotAuthenticate;
  const message = isKnown ? cause.message : "its credentials cannot be made";
  return { kind: "unauthenticated", message } as const;
}
