import { Failure } from "../../../src/errors.ts";

/** The address of a libSQL server, and its credentials. */
export interface RemoteAddress {
  /** `https:` or `http:`, without any secret. */
  readonly url: string;
  /** Empty: the server needs none. */
  readonly authToken: string;
}

/** A token is sent in a header. */
const TOKEN = /^[\x21-\x7e]*$/;

/**
 * Parses an address of the settings: `libsql:`, `https:` or `http:`, optionally with `?authToken=…`,
 * which counts when `authToken` is empty, and `?tls=0`, which makes `libsql:` clear text. Throws
 * `Failure` RT0002, whose message contains nothing of `typed`, because it may hold a secret.
 */
export function remoteAddress(typed: string, authToken: string): RemoteAddress {
  const refuse = (why: string) => new Failure("RT0002", `Cannot read the database URL: ${why}`);
  const [, scheme = "", rest = ""] = /^(libsql|https?):\/\/(.+)$/i.exec(typed) ?? [];
  if (!scheme || !URL.canParse(`https://${rest}`)) {
    throw refuse(`it is not of the form "libsql://host", "https://host" or "http://host"`);
  }
  const { searchParams, username, password, hash } = new URL(`https://${rest}`);
  if (username || password) throw refuse("it holds a user or a password, give a token instead");
  if (hash) throw refuse("it holds a fragment");
  for (const name of searchParams.keys()) {
    if (name !== "authToken" && name !== "tls") throw refuse("it holds a parameter nobody knows");
  }
  const token = authToken || (searchParams.get("authToken") ?? "");
  if (!TOKEN.test(token)) throw refuse("its token holds something else than visible ASCII");
  // Parsed again with its real protocol, because `URL` leaves out the default port of a protocol.
  const { protocol, host, pathname } = new URL(
    `${protocolOf(scheme.toLowerCase(), searchParams.get("tls"))}//${rest}`,
  );
  return { url: `${protocol}//${host}${pathname.replace(/\/+$/, "")}`, authToken: token };
}

function protocolOf(scheme: string, tls: string | null): string {
  if (scheme !== "libsql") return `${scheme}:`;
  return tls === "0" ? "http:" : "https:";
}
