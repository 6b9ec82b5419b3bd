import type { Log } from "../../ports.ts";

/** A token, and when it ends, in milliseconds since the epoch. */
export interface MintedToken {
  readonly text: string;
  readonly until: number;
}

export interface TokenCacheOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
  /** How many audiences have a token at once. Beyond it all are forgotten. */
  readonly tokensMax: number;
}

interface Held extends MintedToken {
  readonly madeAt: number;
  /** When it is replaced, although it is still valid. */
  readonly renewAt: number;
}

/** The part of its validity after which a token is replaced. */
const RENEWED_AFTER = 0.75;
/** A token that ends sooner is not sent: its request has to arrive first. */
const MARGIN_MS = 10_000;
/** How long after a renewal that failed the next one begins, while the old token is valid. */
const RETRY_MS = 5_000;

/**
 * Tokens by their audience. One is made at a time for each, however many requests want it; it is
 * replaced in the background before it ends, so that requests wait for the first one only.
 */
export class TokenCache {
  readonly #options: TokenCacheOptions;
  #held = new Map<string, Held>();
  #underway = new Map<string, Promise<string>>();

  constructor(options: TokenCacheOptions) {
    this.#options = options;
  }

  /** Forgets all tokens: what makes them has another key. */
  clear(): void {
    this.#held = new Map();
    this.#underway = new Map();
  }

  /** The token of an audience: synchronously while one is valid. Rejects with what `mint` rejects with. */
  token(audience: string, mint: () => Promise<MintedToken>): string | Promise<string> {
    const now = this.#options.now();
    const held = this.#held.get(audience);
    // The clock may have been set back since.
    const isValid = held !== undefined && now >= held.madeAt && now < held.until - MARGIN_MS;
    if (!isValid) return this.#make(audience, mint);
    if (now >= held.renewAt) this.#renew(audience, held, mint);
    return held.text;
  }

  #renew(audience: string, held: Held, mint: () => Promise<MintedToken>): void {
    if (this.#underway.has(audience)) return;
    const [all, { now, log }] = [this.#held, this.#options];
    this.#make(audience, mint).catch((cause) => {
      log("warn", "Cannot renew an ID token; the old one is sent while it is valid", {
        audience,
        cause: cause instanceof Error ? cause.message : String(cause),
        until: new Date(held.until).toISOString(),
      });
      if (all.get(audience) === held) all.set(audience, { ...held, renewAt: now() + RETRY_MS });
    });
  }

  #make(audience: string, mint: () => Promise<MintedToken>): Promise<string> {
    const underway = this.#underway.get(audience);
    if (underway) return underway;
    const made = this.#mint(audience, mint);
    this.#underway.set(audience, made);
    return made;
  }

  async #mint(audience: string, mint: () => Promise<MintedToken>): Promise<string> {
    const { now, tokensMax } = this.#options;
    const [all, underway, madeAt] = [this.#held, this.#underway, now()];
    try {
      const minted = await mint();
      if (all.size >= tokensMax) all.clear();
      const renewAt = madeAt + RENEWED_AFTER * (minted.until - madeAt);
      all.set(audience, { ...minted, madeAt, renewAt });
      return minted.text;
    } finally {
      underway.delete(audience);
    }
  }
}
