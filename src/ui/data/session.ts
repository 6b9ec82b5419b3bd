import { signal } from "@preact/signals";
import { api, ApiError, apiUrl, hasToken, letIn, setToken } from "./client.ts";
import { isPerdure, isTold } from "./server.ts";

/** Who is signed in, as the server says. */
export interface Identity {
  readonly identity: string;
  readonly level: string;
  /** When the session ends. Absent: a client certificate says who it is. */
  readonly ends_at?: string;
}

/** Undefined: nobody has signed in, or the server has no sessions. */
export const identity = signal<Identity | undefined>(undefined);

const SESSION = "internal/ui/session";

/** Where the browser finds the admin API: the path of the cookie. */
const pathOf = () => new URL(apiUrl("")).pathname;

/**
 * Signs in with a token. The browser keeps it in a cookie that no script can read. A server without
 * sessions, or a token that no cookie can have: it is kept for this tab. Throws `ApiError`.
 */
export async function signIn(token: string): Promise<void> {
  setToken(undefined);
  try {
    const found = await api<Identity>(SESSION, { method: "POST", body: { token, path: pathOf() } });
    letIn();
    const before = identity.value?.identity;
    identity.value = found;
    // What is in memory was read by somebody else.
    if (before !== undefined && before !== found.identity) location.reload();
  } catch (cause) {
    if (!(cause instanceof ApiError) || !hasNoSession(cause)) throw cause;
    setToken(token);
    letIn();
  }
}

function hasNoSession({ status, code }: ApiError): boolean {
  return status === 404 || status === 405 || status === 400 && code === "META0021";
}

/** Whether there is something to sign out of. */
export function isSignedIn(): boolean {
  return identity.value?.ends_at !== undefined || hasToken();
}

/** Ends the session in this browser, and forgets all that was read. Throws `ApiError`. */
export async function signOut(): Promise<void> {
  if (identity.value?.ends_at !== undefined) {
    await api(`${SESSION}?path=${encodeURIComponent(pathOf())}`, { method: "DELETE" });
  }
  setToken(undefined);
  location.reload();
}

/** Learns who is signed in, once the server has said what it is. Where it asks for nothing, nobody is. */
export async function readIdentity(): Promise<void> {
  if (isTold() || !isPerdure() || hasToken() || identity.value) return;
  // Whatever it cannot say is not needed to show a page.
  identity.value = await api<Identity>(SESSION).catch(() => undefined);
}
