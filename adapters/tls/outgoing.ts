import tls from "node:tls";
import type { Certificates } from "../platform/listener.ts";

/** What connections over TLS to one host need besides its address. */
export type TlsOptionsFor = (to: { readonly host: string; readonly port: number }) => TlsOptions;

export type TlsOptions = Pick<tls.ConnectionOptions, "secureContext" | "servername" | "ca">;

/** Certificates for connections that this process opens, in a context that is made once for all of them. */
export class OutgoingTls {
  readonly #withSystem: boolean;
  #context: tls.SecureContext;

  /** `withSystem`: the authorities of the system are trusted beside those of `certificates`. */
  constructor(certificates: Partial<Certificates>, { withSystem = true } = {}) {
    this.#withSystem = withSystem;
    this.#context = this.#contextOf(certificates);
  }

  get context(): tls.SecureContext {
    return this.#context;
  }

  /** From now on new connections use these. */
  use(certificates: Partial<Certificates>): void {
    this.#context = this.#contextOf(certificates);
  }

  #contextOf({ cert, key, ca }: Partial<Certificates>): tls.SecureContext {
    return tls.createSecureContext({
      minVersion: "TLSv1.2",
      ...(cert !== undefined && key !== undefined && { cert, key }),
      ...(ca !== undefined && { ca: this.#withSystem ? [...systemRoots(), ca] : [ca] }),
    });
  }
}

/** Those that are trusted without a setting. Older versions of Node know only what they bring. */
function systemRoots(): readonly string[] {
  const { getCACertificates } = tls as { readonly getCACertificates?: () => readonly string[] };
  return getCACertificates?.() ?? tls.rootCertificates;
}

/**
 * Options of `tls.connect` for hosts whose names in their certificates may be others. Without `outgoing`
 * what the system trusts is trusted.
 */
export function tlsOptionsFor(
  outgoing: OutgoingTls | undefined,
  names: ReadonlyMap<string, string>,
): TlsOptionsFor {
  return ({ host, port }) => {
    const servername = names.get(`${host}:${port}`) ?? names.get(host);
    return {
      ...(outgoing && { secureContext: outgoing.context }),
      ...(servername !== undefined && { servername }),
    };
  };
}

const UNKNOWN_AUTHORITY = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/**
 * What is wrong with the certificates of a connection to a host, and what to do, in one line. Undefined:
 * the error is of another kind. `settings`: where the settings are (`outbound.tls`).
 */
export function describeTls(error: Error, host: string, settings: string): string | undefined {
  const { code = "" } = error as { readonly code?: string };
  if (UNKNOWN_AUTHORITY.has(code)) {
    return `the certificate of ${host} is signed by an unknown authority: add it to ` +
      `"${settings}.ca-file"`;
  }
  if (code === "CERT_HAS_EXPIRED") return `the certificate of ${host} has expired`;
  if (code === "CERT_NOT_YET_VALID") return `the certificate of ${host} is not valid yet`;
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    const { cert } = error as { readonly cert?: { readonly subjectaltname?: string } };
    const names = cert?.subjectaltname ?? error.message;
    return `the certificate of ${host} is for other names (${names})`;
  }
  if (/ALERT_(CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE)$/.test(code)) {
    return `${host} refuses connections without a client certificate that it knows: set ` +
      `"${settings}.cert-file"`;
  }
  if (/ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)$/.test(code)) {
    return `${host} does not accept the certificate of "${settings}.cert-file"`;
  }
  return undefined;
}
