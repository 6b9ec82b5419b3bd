import { isLoopback } from "../auth/exposure.ts";
import { Failure } from "../errors.ts";

export interface BrowserCheckOptions {
  /** Names that are this server's, beside those of the machine. `*`: all. Empty: see `needsToken`. */
  readonly allowedHosts: readonly string[];
  /** Whether requests need a token, which a page of another origin has not: then names count if some are given. */
  readonly needsToken: boolean;
}

/** Methods that change nothing. */
export const READING = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Throws `Failure` 403 for what a page of another origin could have a browser send to the admin API
 * (docs/security.md#browsers): a request under a name that is not this server's, since its owner may
 * have pointed it here (DNS rebinding), and a change that comes from another origin.
 */
export function checkBrowser(
  { method, headers, url }: Request,
  { allowedHosts, needsToken }: BrowserCheckOptions,
): void {
  const { host, hostname } = new URL(url);
  const isNameChecked = !needsToken || allowedHosts.length > 0;
  if (isNameChecked && !isOurs(hostname, allowedHosts)) {
    throw Failure.plain(
      403,
      `the admin API is not known as "${hostname}". If this name is right, add it to ` +
        `"admin.allowed-hosts"${needsToken ? "" : ', or set "admin.token"'}`,
    );
  }
  const origin = headers.get("origin");
  if (origin === null || READING.has(method)) return;
  const page = URL.canParse(origin) ? new URL(origin) : undefined;
  // A proxy may ask under another name than the one that the browser knows.
  if (page && (page.host === host || isNamed(page.hostname, allowedHosts))) return;
  throw Failure.plain(
    403,
    `a page of "${origin}" may not change anything here. If it is this server's, behind a proxy, ` +
      'add its name to "admin.allowed-hosts"',
  );
}

/**
 * Whether a name cannot be one that a stranger has pointed to this address. A stranger's has a dot: names
 * without one, and numbers, are resolved by this machine or not at all.
 */
function isOurs(hostname: string, allowed: readonly string[]): boolean {
  return !hostname.includes(".") || isLoopback(hostname) || ADDRESS.test(hostname) ||
    allowed.includes("*") || isNamed(hostname, allowed);
}

function isNamed(hostname: string, names: readonly string[]): boolean {
  return names.some((name) => name.toLowerCase() === hostname);
}

const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/i;
