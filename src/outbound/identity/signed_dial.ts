import { type Dialect, header } from "../../names.ts";
import type { Dial, DialListener, DialRequest, Exchange } from "../../dial.ts";
import { PendingExchange } from "../../pending_exchange.ts";
import type { Claims, Signer } from "./signer.ts";

export interface SignOptions {
  readonly signer: Signer;
  readonly claims: Claims;
  /** The dialects of header names that the endpoint may understand. */
  readonly dialects: readonly Dialect[];
}

/**
 * Opens an exchange with a signed request (docs/spec/service-protocol.md#signed-requests): at once
 * when a token is cached, else as soon as one is made. What is written meanwhile is buffered. An
 * exchange that is aborted before its token is made is never opened.
 */
export function openSigned(
  dial: Dial,
  request: DialRequest,
  { listener, ...options }: SignOptions & { readonly listener: DialListener },
): Exchange {
  const token = options.signer.token(options.claims);
  if (typeof token === "string") return dial.open(signed(request, token, options), listener);
  const pending = new PendingExchange(listener);
  token
    .then((text) => pending.connect((inner) => dial.open(signed(request, text, options), inner)))
    .catch(() => pending.fail({ kind: "unreachable", message: "the request cannot be signed" }));
  return pending;
}

/** A dial that signs all its requests for the same audience. */
export function signedDial(dial: Dial, options: SignOptions): Dial {
  return {
    open: (request, listener) => openSigned(dial, request, { ...options, listener }),
    close: () => dial.close(),
  };
}

/**
 * The signature replaces a header of the same name among the additional headers of a deployment.
 */
function signed(request: DialRequest, token: string, { dialects }: SignOptions): DialRequest {
  const headers: Record<string, string> = { ...request.headers };
  for (const dialect of dialects) {
    headers[header(dialect, "signature-scheme")] = "v1";
    headers[header(dialect, "jwt-v1")] = token;
  }
  return { ...request, headers };
}
