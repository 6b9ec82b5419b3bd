import type { PrivateKey } from "./private_key.ts";

/** What a signature states. */
export interface Claims {
  /** Path of the request without the base path of its endpoint: `/invoke/Svc/run`, `/discover`. */
  readonly audience: string;
  /** Key of the object or workflow, not percent-encoded. */
  readonly subject?: string | undefined;
}

export interface SignerOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * A token is valid from this long before it was made until this long after. At least a second.
   */
  readonly expirationMs: number;
  /** How many tokens are cached. Beyond it all are forgotten. */
  readonly tokensMax: number;
}

interface Token {
  readonly text: string;
  readonly madeAt: number;
}

/**
 * Makes the tokens that prove where a request comes from
 * (docs/spec/service-protocol.md#signed-requests). A token is reused for the first half of its
 * validity, so that the endpoint has at least the other half to verify it.
 */
export class Signer {
  readonly #options: SignerOptions;
  #key: PrivateKey;
  #head: string;
  #tokens = new Map<string, Token>();
  #underway = new Map<string, Promise<string>>();

  constructor(key: PrivateKey, options: SignerOptions) {
    this.#options = options;
    this.#key = key;
    this.#head = headOf(key);
  }

  get publicKey(): string {
    return this.#key.publicKey;
  }

  /** Signs with another key from now on. */
  use(key: PrivateKey): void {
    this.#key = key;
    this.#head = headOf(key);
    this.#tokens = new Map();
    this.#underway = new Map();
  }

  /** A token: synchronously when it is cached. Rejects only if the platform cannot sign. */
  token(claims: Claims): string | Promise<string> {
    const name = `${claims.audience}\n${claims.subject ?? "\n"}`;
    const known = this.#tokens.get(name);
    const age = known ? this.#options.now() - known.madeAt : Infinity;
    // The clock may have been set back since: a token dated in the future is not valid.
    if (known && age >= 0 && age < this.#options.expirationMs / 2) return known.text;
    let token = this.#underway.get(name);
    if (!token) this.#underway.set(name, token = this.#make(name, claims));
    return token;
  }

  async #make(name: string, claims: Claims): Promise<string> {
    const [tokens, underway] = [this.#tokens, this.#underway];
    const madeAt = this.#options.now();
    try {
      const text = await this.#sign(claims, madeAt);
      if (tokens.size >= this.#options.tokensMax) tokens.clear();
      tokens.set(name, { text, madeAt });
      return text;
    } finally {
      underway.delete(name);
    }
  }

  async #sign({ audience, subject }: Claims, madeAt: number): Promise<string> {
    const now = Math.floor(madeAt / 1000);
    const leeway = Math.floor(this.#options.expirationMs / 1000);
    const body = {
      aud: audience,
      exp: now + leeway,
      iat: now,
      nbf: now - leeway,
      ...(subject === undefined ? {} : { sub: subject }),
    };
    const signed = `${this.#head}.${base64Url(new TextEncoder().encode(JSON.stringify(body)))}`;
    const signature = await this.#key.sign(new TextEncoder().encode(signed));
    return `${signed}.${base64Url(signature)}`;
  }
}

function headOf({ publicKey }: PrivateKey): string {
  const head = { typ: "JWT", alg: "EdDSA", kid: publicKey };
  return base64Url(new TextEncoder().encode(JSON.stringify(head)));
}

function base64Url(bytes: Uint8Array): string {
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
