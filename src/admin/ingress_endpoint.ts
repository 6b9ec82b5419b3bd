/** The URL under which browsers reach the ingress, with a slash at the end. `asked`: a URL of this API. */
export type IngressEndpoint = (asked: string) => string;

export interface Ingress {
  /** The URL that operators name. Empty: none. */
  readonly advertised: string;
  /** The address and port on which it listens. */
  readonly host: string;
  readonly port: () => number;
  /** Whether it speaks TLS. */
  readonly isSecure: boolean;
  /** Whether it is served at the address of the admin API. */
  readonly isOneOrigin: boolean;
}

/** Addresses to listen on that are all of a machine's, and none that can be called. */
const WILDCARDS = ["0.0.0.0", "::"];

/**
 * Where browsers reach the ingress (docs/spec/admin.md#version-and-health): the advertised address, or
 * the address and port that it listens on. A wildcard says nothing, so the host is then the one under
 * which the admin API was asked.
 */
export function ingressEndpointOf(
  { advertised, host, port, isSecure, isOneOrigin }: Ingress,
): IngressEndpoint {
  if (advertised !== "") return () => advertised.endsWith("/") ? advertised : `${advertised}/`;
  if (isOneOrigin) return (asked) => new URL("/", asked).href;
  const scheme = isSecure ? "https" : "http";
  if (!WILDCARDS.includes(host)) {
    return () => `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port()}/`;
  }
  return (asked) => `${scheme}://${new URL(asked).hostname}:${port()}/`;
}
