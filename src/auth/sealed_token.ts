import type { Random } from "../ports.ts";
import { fromBase64Url, toBase64Url } from "./base64_url.ts";
import type { SessionKey, SessionKeys } from "./session_keys.ts";

/** What a sealed token is for: a session of the UI, or some calls of its playground. */
export type SealedFor = "session" | "calls";

/** A token, and until when its seal counts, in milliseconds since the epoch. */
export interface Sealed {
  readonly token: string;
  readonly until: number;
}

/** What is known of a seal that was opened. */
export interface Opened extends Sealed {
  /** The id of its key. */
  readonly key: string;
  /** Its name among those of its key: the same however its text is spelled. */
  readonly session: string;
  /** It was signed out. */
  readonly isEnded: boolean;
}

const IV_BYTES = 12;
/** A key id, a dot, and the rest in base64url. */
const FORM = /^([0-9a-f]{8})\.([\w-]{38,})$/;

/**
 * Encrypts a token, so that the text shows neither the token nor for how long it counts, and cannot be
 * made or changed without the key (AES-256-GCM). What it is for is authenticated with it.
 */
export async function seal(
  { token, until }: Sealed,
  kind: SealedFor,
  { key: { id, key }, random }: { readonly key: SessionKey; readonly random: Random },
): Promise<string> {
  const iv = new Uint8Array(random(IV_BYTES));
  const text = new TextEncoder().encode(`${until} ${token}`);
  const encrypted = await crypto.subtle.encrypt(parameters(iv, kind), key, text);
  const bytes = new Uint8Array(IV_BYTES + encrypted.byteLength);
  bytes.set(iv);
  bytes.set(new Uint8Array(encrypted), IV_BYTES);
  return `${id}.${toBase64Url(bytes)}`;
}

/**
 * Decrypts what `seal` made. Undefined: it was made for something else, by another key, or not by `seal`.
 * It may be over. Rejects as the store of the keys does.
 */
export async function unseal(
  text: string,
  kind: SealedFor,
  keys: Pick<SessionKeys, "find">,
): Promise<Opened | undefined> {
  const [, id, rest] = FORM.exec(text) ?? [];
  const found = id === undefined ? undefined : await keys.find(id);
  if (!found || rest === undefined) return undefined;
  try {
    const bytes = fromBase64Url(rest);
    const iv = bytes.subarray(0, IV_BYTES), session = toBase64Url(iv);
    const given = parameters(iv, kind);
    const opened = await crypto.subtle.decrypt(given, found.key, bytes.subarray(IV_BYTES));
    const [until = "", token = ""] = new TextDecoder().decode(opened).split(" ");
    const isEnded = found.ended.has(session);
    return { token, until: Number(until), key: found.id, session, isEnded };
  } catch {
    // Neither error says more than that it was not made by this key.
    return undefined;
  }
}

function parameters(iv: Uint8Array<ArrayBuffer>, kind: SealedFor): AesGcmParams {
  return { name: "AES-GCM", iv, additionalData: new TextEncoder().encode(`perdure ${kind}`) };
}
