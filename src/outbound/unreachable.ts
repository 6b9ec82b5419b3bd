import type { DialFailure } from "../dial.ts";
import { Failure } from "../errors.ts";
import { shownUri } from "./shown_uri.ts";

/**
 * The failure of a request to an endpoint that sent no response, as an operator gets it
 * (docs/spec/service-protocol.md#registration-errors): META0014 for an HTTP/1.1 server, META0018
 * for an address that may not be called, META0003 for everything else. `uri`: as it was registered.
 */
export function unreachable(uri: string, { kind, message }: DialFailure): Failure {
  const calling = `error when calling '${shownUri(uri)}'`;
  switch (kind) {
    case "http1":
      return new Failure(
        "META0014",
        `${calling}: server possibly supports only HTTP1.1, ` +
          `consider discovery with --use-http1.1 ("use_http_11": true in the request); ` +
          "if it speaks TLS, the URI begins with https",
      );
    case "forbidden":
      return new Failure("META0018", `cannot call '${shownUri(uri)}': ${message}`);
    case "unauthenticated":
      return new Failure("META0003", `cannot call '${shownUri(uri)}': ${message}`);
    case "unreachable":
    case "reset":
    case "refused":
    case "busy":
      return new Failure("META0003", `${calling}: ${message}${plainHint(uri, message)}`);
  }
}

/** Messages of TLS libraries for a peer that does not speak TLS. */
const NO_TLS =
  /wrong version number|packet length too long|record layer|EPROTO|InvalidContentType|corrupt message/i;

function plainHint(uri: string, message: string): string {
  if (!/^https:/i.test(uri) || !NO_TLS.test(message)) return "";
  return "; the URI says https, and the endpoint seems to speak plain HTTP: try http";
}

/** As `unreachable`, for an endpoint that sent no complete response in time. */
export function timedOut(uri: string, timeoutMs: number): Failure {
  return new Failure(
    "META0003",
    `error when calling '${shownUri(uri)}': no complete answer within ${timeoutMs} ms`,
  );
}

/** The part of an unexpected response that is shown to an operator, in bytes. */
const ECHO_BYTES_MAX = 1024;

/** The beginning of an unexpected body, as the end of a message; empty when the body is. */
export function echo(body: Uint8Array): string {
  const text = new TextDecoder().decode(body.subarray(0, ECHO_BYTES_MAX));
  return text === "" ? "" : `. Body: ${text}${body.byteLength > ECHO_BYTES_MAX ? "…" : ""}`;
}
