import type { Authenticator } from "../../src/auth/authenticator.ts";
import { SessionKeys, type SessionKeyStore } from "../../src/auth/session_keys.ts";
import { Sessions } from "../../src/auth/sessions.ts";

const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));

/** Keys of sessions in memory, as the database of an installation keeps them. */
export class MemorySessionKeys implements SessionKeyStore {
  text: string | undefined;
  reads = 0;

  read(fresh: string): Promise<string> {
    this.reads++;
    return Promise.resolve(this.text ??= fresh);
  }

  replace(before: string, after: string): Promise<string> {
    if (this.text === before) this.text = after;
    return Promise.resolve(this.text ?? "");
  }
}

/** Sessions of a process. `now`: milliseconds since the epoch. */
export function sessionsOf(
  authenticator: Authenticator,
  { now = Date.now, lifetimeMs = 3_600_000, store = new MemorySessionKeys() }: {
    readonly now?: () => number;
    readonly lifetimeMs?: number;
    readonly store?: SessionKeyStore;
  } = {},
): Sessions {
  const keys = new SessionKeys({ store, random, now, lifetimeMs });
  return new Sessions({ authenticator, keys, lifetimeMs, random, now });
}

/** The `cookie` header that a browser makes of an answer. */
export function cookieOf({ headers }: Pick<Response, "headers">): string {
  return headers.getSetCookie().map((one) => one.split(";")[0]).join("; ");
}
