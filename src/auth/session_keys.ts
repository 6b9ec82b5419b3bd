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
  /** Sessions of it that were signed out (`Opened.session`), and have time left. */
  readonly ended: ReadonlySet<string>;
}

interface Kept {
  readonly key: string;
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number;
  /** Sessions of it that were signed out before their time, which is in milliseconds since the epoch. */
  readonly ended?: readonly (readonly [session: string, until: number])[];
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
/** How old it may be what is known of the store: so long a session counts that ended elsewhere. */
const REREAD_MS = 1_000;
/** Sessions of a key that were signed out before their time. Beyond it the key goes, and all of its sessions. */
const ENDED_MAX = 1_000;
/** How often a change is tried while other processes change the same text. */
const CONFLICTS_MAX = 20;

/**
 * The keys of sessions: the one that makes new ones, and the one before it, which opens those that still
 * count. Sessions that were signed out are kept with their key (decision 076). All methods reject as the
 * store does.
 */
export class SessionKeys {
  readonly #options: SessionKeysOptions;
  #text = "";
  #keys: readonly SessionKey[] = [];
  #readAt = -Infinity;
  #reading: Promise<void> | undefined;
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(options: SessionKeysOptions) {
    this.#options = options;
  }

  /** The key for a new session. Replaces one that is too old. */
  async current(): Promise<SessionKey> {
    const { now, lifetimeMs } = this.#options;
    return await this.#inTurn(async () => {
      await this.#read();
      const kept = JSON.parse(this.#text) as readonly [Kept, ...Kept[]];
      if (now() - kept[0].at > Math.max(REPLACED_MS, lifetimeMs)) {
        await this.#use(await this.#replace(JSON.stringify([this.#fresh(), kept[0]])));
      }
      return this.#keys[0]!;
    });
  }

  /** The key with an id. Undefined: it has been replaced, or was never one of these. */
  async find(id: string): Promise<SessionKey | undefined> {
    const now = this.#options.now();
    if (Math.abs(now - this.#readAt) >= REREAD_MS) {
      this.#readAt = now;
      this.#reading = this.#inTurn(() => this.#read());
    }
    try {
      // Those that come meanwhile wait for it, too.
      await this.#reading;
    } catch (cause) {
      // While the store fails, what is known goes on: operators need the UI most then.
      if (!this.#known(id)) throw cause;
    }
    return this.#known(id);
  }

  /**
   * Ends a session of the key `id` before its time, `until`, in this process at once and in others
   * within a second. Repeated, it changes nothing.
   */
  async end(id: string, session: string, until: number): Promise<void> {
    await this.#inTurn(() => this.#end(id, session, until));
  }

  async #end(id: string, session: string, until: number): Promise<void> {
    for (let tries = 0; tries < CONFLICTS_MAX; tries++) {
      await this.#read();
      const known = this.#known(id);
      if (!known || known.ended.has(session)) return;
      const after = this.#without(this.#keys.indexOf(known), [session, until]);
      await this.#use(await this.#replace(JSON.stringify(after)));
    }
    throw new Error("The keys of sessions are changed by others all the time");
  }

  /** One after the other: what was read earlier never replaces what was read or written later. */
  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#lastTurn.then(act);
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }

  #known(id: string): SessionKey | undefined {
    return this.#keys.find((key) => key.id === id);
  }

  /** What is kept once a session of the key at this place is over. */
  #without(at: number, one: readonly [session: string, until: number]): readonly Kept[] {
    const now = this.#options.now();
    const kept = JSON.parse(this.#text) as readonly Kept[];
    const ended = [...kept[at]!.ended ?? [], one].filter(([, until]) => until > now);
    if (ended.length <= ENDED_MAX) return kept.with(at, { ...kept[at]!, ended });
    const others = kept.toSpliced(at, 1);
    return at === 0 ? [this.#fresh(), ...others] : others;
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
    this.#keys = await Promise.all(kept.map(imported));
    this.#text = text;
  }

  #fresh(): Kept {
    const { random, now } = this.#options;
    return { key: toBase64Url(random(KEY_BYTES)), at: now() };
  }
}

async function imported({ key: text, ended = [] }: Kept): Promise<SessionKey> {
  const usages = ["encrypt", "decrypt"] as const;
  const key = await crypto.subtle.importKey("raw", fromBase64Url(text), "AES-GCM", false, usages);
  const id = (await digestOf(text)).slice(0, ID_CHARACTERS);
  return { id, key, ended: new Set(ended.map(([session]) => session)) };
}
