/** A certificate of a client, which an authority of `tls.client-ca-file` has issued. */
export interface ClientCertificate {
  /** Its common name, for refusals. */
  readonly name: string;
  /** How a list of tokens may name it, the most exact first: `cert:sha256:…`, `cert:uri:…`. */
  readonly keys: readonly string[];
}

/** The certificate that the client of a request has shown. Undefined: none. */
export type CertificateOf = (request: Request) => ClientCertificate | undefined;

/** Parts of a certificate, as Node and Deno tell them. */
export interface CertificateParts {
  /** SHA-256 in hexadecimal digits, with or without colons. */
  readonly fingerprint: string;
  /** `DNS:ci.example.com, URI:spiffe://a/b`, where values with special characters are quoted. */
  readonly alternativeNames: string | undefined;
  readonly commonName: string | undefined;
}

const KINDS: Readonly<Record<string, string>> = { URI: "uri", DNS: "dns", email: "email" };
const ALTERNATIVE_NAME = /(?:^|, )([^:,]+):("(?:[^"\\]|\\.)*"|[^,]*)/g;

/** What a certificate is called in lists of tokens (docs/security.md#client-certificates). */
export function clientCertificate(parts: CertificateParts): ClientCertificate {
  const { fingerprint, alternativeNames = "", commonName } = parts;
  const found: Record<string, string[]> = { uri: [], dns: [], email: [] };
  for (const [, kind = "", value = ""] of alternativeNames.matchAll(ALTERNATIVE_NAME)) {
    // A quoted value could look like several names, and is none that a list can have.
    if (!value.startsWith('"')) found[KINDS[kind] ?? ""]?.push(value);
  }
  const named = Object.entries(found).flatMap(([kind, values]) =>
    values.map((value) => certificateKey(kind, value))
  );
  const last = commonName === undefined ? [] : [certificateKey("cn", commonName)];
  const first = certificateKey("sha256", fingerprint);
  return { name: commonName ?? fingerprint, keys: [first, ...named, ...last] };
}

/** The second word of a line of a list, in the one spelling by which it is looked up. */
export function certificateKey(kind: string, value: string): string {
  if (kind === "sha256") return `cert:sha256:${value.replaceAll(":", "").toLowerCase()}`;
  return `cert:${kind}:${kind === "dns" ? value.toLowerCase() : value}`;
}

const FORM = /^cert:(sha256|uri|dns|email|cn):(.+)$/;

/** Reads the second word of a line. Undefined: it names no certificate. */
export function parseCertificateKey(word: string): string | undefined {
  const [, kind = "", value = ""] = FORM.exec(word) ?? [];
  const isRead = kind === "sha256" ? /^([0-9a-f]{2}:?){32}$/i.test(value) : kind !== "";
  return isRead ? certificateKey(kind, value) : undefined;
}
