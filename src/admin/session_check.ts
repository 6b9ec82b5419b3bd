import { Failure } from "../errors.ts";
import { READING } from "./browser_check.ts";

/** What browsers say of requests of the page's own, and of what a person typed. */
const OWN = new Set(["same-origin", "none"]);

/**
 * Throws `Failure` META0021 (403) unless a request that shows a session is one of the UI itself. A browser
 * adds a cookie by itself, also to what a page at another port of this host sends, which for
 * `SameSite=Strict` is the same site (decision 071). `checkBrowser` has looked at the origin of a change;
 * here it may not be missing, since each browser names it. What only reads may have none.
 */
export function checkSessionUse({ method, headers, url }: Request): void {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  if (site !== null && !OWN.has(site)) throw foreign(`a page of another origin (${site})`);
  if (READING.has(method)) {
    // A proxy may ask under another name: then the browser has to say that it is the page's own.
    const isOwn = site !== null || origin === null || sameHost(origin, url);
    if (!isOwn) throw foreign(`a page of "${origin}"`);
  } else if (origin === null) throw foreign("a request without an Origin");
}

function sameHost(origin: string, url: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === new URL(url).host;
}

function foreign(who: string): Failure {
  const message = `A session counts for the pages of the UI, and not for ${who}`;
  return new Failure("META0021", message, { status: 403 });
}
