import { encodeBase58 } from "./base58.ts";

/** Signs requests, with the public key by which endpoints verify them. */
export interface PrivateKey {
  /**
   * `publickeyv1_` and the public key in base 58, as endpoints are configured with it
   * (docs/spec/service-protocol.md#signed-requests).
   */
  readonly publicKey: string;
  /** The Ed25519 signature of `data`: 64 bytes. */
  sign(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
}

/**
 * A text that is not a private key that this server can use. Its message ends a sentence, and never
 * quotes the text.
 */
export class BadKey extends Error {
  override name = "BadKey";
}

/** The bytes before the 32 bytes of a private key in PKCS#8 (RFC 8410, section 7). */
const HEAD = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20] as const;
const KEY_BYTES = 32;
/** Positions in the head that differ from file to file: the total length, and the version. */
const VARIABLE: readonly number[] = [1, 4];

const PEM = /-----BEGIN PRIVATE KEY-----([\sA-Za-z0-9+/=]*)-----END PRIVATE KEY-----/;
/** How a line break is written where a value must be one line, such as an environment file. */
const SPELLED_BREAK = /\\r|\\n/g;

/**
 * Reads an Ed25519 private key: PKCS#8 in PEM, as `openssl genpkey -algorithm ed25519` writes it.
 * Line breaks may be written `
 * `. Rejects with `BadKey`.
 */
export async function readPrivateKey(pem: string): Promise<PrivateKey> {
  const der = decodePem(pem);
  const isKnown = der.length >= HEAD.length + KEY_BYTES &&
    HEAD.every((byte, at) => der[at] === byte || VARIABLE.includes(at));
  if (!isKnown) throw new BadKey("not an Ed25519 private key in PKCS#8");
  // A later version of the format appends the public key, which not every platform reads: it is cut
  // off.
  const pkcs8 = new Uint8Array([...HEAD, ...der.subarray(HEAD.length, HEAD.length + KEY_BYTES)]);
  const readable = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
  const { x = "" } = await crypto.subtle.exportKey("jwk", readable);
  const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"]);
  return {
    publicKey: `publickeyv1_${encodeBase58(decodeBase64(x))}`,
    sign: async (data) => new Uint8Array(await crypto.subtle.sign("Ed25519", key, data)),
  };
}

function decodePem(pem: string): Uint8Array {
  const [, body] = PEM.exec(pem.replaceAll(SPELLED_BREAK, "\n")) ?? [];
  if (body === undefined) throw new BadKey(`no PEM with a block "PRIVATE KEY"`);
  try {
    return decodeBase64(body);
  } catch (cause) {
    throw new BadKey("no valid base 64 within its PEM block", { cause });
  }
}

/** Decodes base 64, also in its URL-safe alphabet. Throws what `atob` throws. */
function decodeBase64(text: string): Uint8Array {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}
