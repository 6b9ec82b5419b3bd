const NAME = "perdure-session";
/** Of this server, or of another one on this host: browsers send cookies to all ports. */
const OURS = /^(__Host-|__Secure-)?perdure-session(-\d{1,5})?$/;
/** Sessions that are tried of a request. Further ones are of others on this host. */
const TRIED_MAX = 8;
/** What a browser keeps of a cookie: name and value. */
export const COOKIE_BYTES_MAX = 4096;
/** What a path of a cookie may have, as URLs spell it. */
export const COOKIE_PATH = /^\/[\w.~!$&'()*+=:@%/-]{0,1000}$/;

/** How a session is given to a browser. */
export interface CookieOptions {
  /** The value. Empty: it is taken away. */
  readonly value: string;
  /** The path above the UI: `/`, or the prefix of a proxy with a slash at its end. */
  readonly path: string;
  /** The port under which the browser knows the server, or nothing for the one of its scheme. */
  readonly port: string;
  /** Whether the browser reached it by https. */
  readonly isSecure: boolean;
  readonly maxAgeMs: number;
}

/**
 * The value of `set-cookie`. The name has the port, because a browser sends cookies to all ports of a
 * host: two servers there would take each other's session. With https it has the prefix by which
 * browsers let no other host and no plain HTTP set it; `__Host-` allows no path but `/`.
 */
export function sessionCookie(
  { value, path, port, isSecure, maxAgeMs }: CookieOptions,
): string {
  const prefix = !isSecure ? "" : path === "/" ? "__Host-" : "__Secure-";
  return cookieOf(prefix + (port === "" ? NAME : `${NAME}-${port}`), { value, path, maxAgeMs });
}

function cookieOf(
  name: string,
  { value, path, maxAgeMs }: Pick<CookieOptions, "value" | "path" | "maxAgeMs">,
): string {
  const secure = name.startsWith("__") ? "; Secure" : "";
  const maxAge = Math.floor(maxAgeMs / 1000);
  return `${name}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
}

/** The value of `set-cookie` that takes a session away. `name`: as `sessionsIn` answers it. */
export function withoutSession(name: string, path: string): string {
  const where = name.startsWith("__Host-") ? "/" : path;
  return cookieOf(name, { value: "", path: where, maxAgeMs: 0 });
}

/**
 * What may be sessions in a `cookie` header, the likeliest first: of 8 at most. `port`: the one under
 * which the request reached this server. Over https those count only that no plain HTTP can have set.
 */
export function sessionsIn(
  header: string,
  { port, isSecure }: Pick<CookieOptions, "port" | "isSecure">,
): { readonly name: string; readonly value: string }[] {
  const found = pairsOf(header).filter(({ name }) =>
    OURS.test(name) && (!isSecure || name.startsWith("__"))
  );
  const own = port === "" ? NAME : `${NAME}-${port}`;
  const rank = (name: string) =>
    (name.endsWith(own) ? 0 : 3) +
    (name.startsWith("__Host-") ? 0 : name.startsWith("__") ? 1 : 2);
  return found.toSorted((a, b) => rank(a.name) - rank(b.name)).slice(0, TRIED_MAX);
}

/** A `cookie` header without sessions, which are not for handlers. Empty: nothing is left. */
export function withoutSessions(header: string): string {
  if (!header.includes(NAME)) return header;
  const rest = pairsOf(header).filter(({ name }) => !OURS.test(name));
  return rest.map(({ text }) => text).join("; ");
}

function pairsOf(header: string) {
  return header.split(";").map((part) => {
    const text = part.trim();
    const at = text.indexOf("=");
    const [name, value] = at < 0 ? ["", text] : [text.slice(0, at), text.slice(at + 1)];
    return { text, name: name.trim(), value: value.trim() };
  });
}

/** Under which port the browser knows this server, and whether by https: as far as a request tells. */
export function reachedAs(
  { url, headers, method }: Request,
): Pick<CookieOptions, "port" | "isSecure"> {
  const { port, protocol } = new URL(url);
  const origin = headers.get("origin") ?? "";
  // What a browser says of itself holds behind any proxy, and it says so with every change.
  if (method !== "GET" && URL.canParse(origin)) {
    const page = new URL(origin);
    return { port: page.port, isSecure: page.protocol === "https:" };
  }
  const [proto = ""] = (headers.get("x-forwarded-proto") ?? "").split(",");
  const isForwarded = proto.trim().toLowerCase() === "https" ||
    /^[^,]*\bproto="?https\b/i.test(headers.get("forwarded") ?? "");
  return { port, isSecure: protocol === "https:" || isForwarded };
}
