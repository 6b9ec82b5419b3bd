import { parseCertificateKey } from "./client_certificate.ts";
import { BadRole, grantsOf, type Identity } from "./grants.ts";

/**
 * Identities by the SHA-256 of their tokens, in lower-case hexadecimal digits, and by what names a client
 * certificate (`cert:dns:…`).
 */
export type TokenList = ReadonlyMap<string, Identity>;

/** A line of a list of tokens that cannot be read. Its message quotes no token. */
export class BadTokenList extends Error {
  override name = "BadTokenList";
}

const SHA256 = /^[0-9a-f]{64}$/i;

/**
 * Reads a list of tokens (docs/security.md#tokens): a line for each, with its name, the SHA-256 of the
 * token or what names a client certificate, and its roles, separated by spaces. Empty lines and those that begin with `#` are passed over.
 * A name may stand on several lines, so that a token can be replaced while the old one is in use. Throws
 * `BadTokenList`.
 */
export function parseTokenList(text: string): TokenList {
  const tokens = new Map<string, Identity>();
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const [name, shown = "", ...roles] = line.trim().split(/\s+/);
    if (!name || name.startsWith("#")) continue;
    const bad = (why: string, cause?: unknown) =>
      new BadTokenList(`line ${at + 1}: ${why}`, { cause });
    const digest = SHA256.test(shown) ? shown.toLowerCase() : parseCertificateKey(shown);
    if (digest === undefined) {
      throw bad(
        "the second word is not a SHA-256, which has 64 hexadecimal digits, and no certificate, " +
          "such as cert:dns:ci.example.com (also cert:uri:, cert:email:, cert:cn:, cert:sha256:)",
      );
    }
    if (roles.length === 0) throw bad("there is no role after the second word");
    if (tokens.has(digest)) throw bad("the same token or certificate is on an earlier line");
    try {
      tokens.set(digest, { name, ...grantsOf(roles) });
    } catch (cause) {
      if (cause instanceof BadRole) throw bad(cause.message, cause);
      throw cause;
    }
  }
  return tokens;
}

/** The SHA-256 of a token, as lists have it. */
export async function digestOf(token: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
