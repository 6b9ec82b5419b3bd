import type { Config } from "../config.ts";
import { Failure } from "../errors.ts";
import { authSettings, isClosed } from "./settings.ts";

/** Names and addresses that only programs on the same machine reach. */
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i;

/** Whether an address is of this machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * Throws `Failure` RT0002 for a port that a network can reach and that needs no token, unless that was
 * asked for (`auth.mode = "none"`). With `"generate"` the settings are those that have the token already.
 * `isOurs`: whether this machine has an address; listening on another fails with a message of its own.
 */
export function checkExposure(config: Config, isOurs: (host: string) => boolean): void {
  if (config["auth.mode"] === "none") return;
  const closed = isClosed(authSettings(config));
  for (const what of ["admin", "ingress"] as const) {
    const host = config[`${what}.bind-address`];
    if (closed[what] || isLoopback(host) || !isOurs(host)) continue;
    throw new Failure(
      "RT0002",
      `Cannot listen on ${what}.bind-address "${host}" without authentication: a network could ` +
        `reach it. Set "${what}.token" or "auth.tokens-file", or "auth.mode" to "none" if a proxy ` +
        "or a firewall decides who reaches it",
    );
  }
}
