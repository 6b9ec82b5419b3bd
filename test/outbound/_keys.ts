import { generateKeyPairSync } from "node:crypto";
import { type PrivateKey, readPrivateKey } from "../../src/outbound/identity/private_key.ts";
import { Signer, type SignerOptions } from "../../src/outbound/identity/signer.ts";

/** A fresh Ed25519 key, as PEM. */
export function newPem(): string {
  const { privateKey } = generateKeyPairSync("ed25519");
  return String(privateKey.export({ type: "pkcs8", format: "pem" }));
}

export function newKey(): Promise<PrivateKey> {
  return readPrivateKey(newPem());
}

export async function newSigner(options: Partial<SignerOptions> = {}): Promise<Signer> {
  const defaults = { now: () => Date.now(), expirationMs: 60_000, tokensMax: 10 };
  return new Signer(await newKey(), { ...defaults, ...options });
}

/** Parts of a token: the first two are JSON. */
export function parse(token: string): {
  readonly head: unknown;
  readonly body: Record<string, unknown>;
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
} {
  const [head = "", body = "", signature = ""] = token.split(".");
  const json = (text: string) => JSON.parse(Buffer.from(text, "base64url").toString());
  return {
    head: json(head),
    body: json(body),
    signed: new TextEncoder().encode(`${head}.${body}`),
    signature: new Uint8Array(Buffer.from(signature, "base64url")),
  };
}
