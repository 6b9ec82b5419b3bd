import type { Random } from "../ports.ts";
import { digestOf } from "./token_list.ts";
import { fromBase64Url, toBase64Url } from "./base64_url.ts";

/** Where the keys of sessions are kept, with the data: for restarts, and for all processes of a fleet. */
export interface SessionKeyStore {
  /** The text that is kept. `fresh` becomes it if there is none. */
  read(fresh: string): Promise<string>;
  /** Replaces the text if it is still `before`. Resolves to what is kept then. */
  replace(before: string, after: string): Promise<string>;
}

/** Encrypts and decrypts sessions (AES-256-GCM). */
export interface SessionKey {
  /** What sessions name it by. */
  readonly id: string;
  readonly key: CryptoKey;
}

interface Kept {
  readonly key: string;
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number;
}

export interface SessionKeysOptions {
  /** Absent: keys are in memory only. */
  readonly store?: SessionKeyStore | undefined;
  readonly random: Random;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The longest that a session counts, in milliseconds. */
  readonly lifetimeMs: number;
}

const KEY_BYTES = 32;
/** Characters of the SHA-256 of a key that name it. */
const ID_CHARACTERS = 8;
/** A key is replaced when a session is made and it is older than that, or than a session may be. */
const REPLACED_MS = 30 * 24 * 3_600_000;
/** Sessions of keys that are not known read the store again, not more often than that. */
const REREAD_MS = 1_000;

/**
 * The keys of sessions: the one that makes new ones, and the one before it, which opens those that still
 * count. All methods reject as the store does.
 */
export class SessionKeys {
  readonly #options: SessionKeysOptions;
  #text = "";
  #keys: readonly SessionKey[] = [];
  #readAt = -Infinity;
  #reading: Promise<void> | undefined;

  constructor(options: SessionKeysOptions) {
    this.#options = options;
  }

  /** The key for a new session. Replaces one that is too old. */
  async current(): Promise<SessionKey> {
    const { now, lifetimeMs } = this.#options;
    await this.#read();
    const kept = JSON.parse(this.#text) as readonly [Kept, ...Kept[]];
    if (now() - kept[0].at > Math.max(REPLACED_MS, lifetimeMs)) {
      await this.#use(await this.#replace(JSON.stringify([this.#fresh(), kept[0]])));
    }
    return this.#keys[0]!;
  }

  /** The key with an id. Undefined: it has been replaced, or was never one of these. */
  async find(id: string): Promise<SessionKey | undefined> {
    const known = () => this.#keys.find((key) => key.id === id);
    if (known()) return known();
    const now = this.#options.now();
    if (Math.abs(now - this.#readAt) >= REREAD_MS) {
      this.#readAt = now;
      this.#reading = this.#read();
    }
    // Those that come meanwhile wait for it, too.
    await this.#reading;
    return known();
  }

  async #read(): Promise<void> {
    const { store } = this.#options;
    const fresh = this.#text === "" ? JSON.stringify([this.#fresh()]) : this.#text;
    await this.#use(await store?.read(fresh) ?? fresh);
  }

  async #replace(after: string): Promise<string> {
    return await this.#options.store?.replace(this.#text, after) ?? after;
  }

  async #use(text: string): Promise<void> {
    if (text === this.#text) return;
    const kept = JSON.parse(text) as readonly Kept[];
    this.#keys = await Promise.all(kept.map(({ key }) => imported(key)));
    this.#text = text;
  }

  #fresh(): Kept {
    const { random, now } = this.#options;
    return { key: toBase64Url(random(KEY_BYTES)), at: now() };
  }
}

async function imported(text: string): Promise<SessionKey> {
  const usages = ["encrypt", "decrypt"] as const;
  const key = await crypto.subtle.importKey("raw", fromBase64Url(text), "AES-GCM", false, usages);
  return { id: (await digestOf(text)).slice(0, ID_CHARACTERS), key };
}
