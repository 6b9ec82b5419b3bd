import ipaddr from "ipaddr.js";

const OWN_RANGES: ReadonlySet<string> = new Set(["loopback", "private", "uniqueLocal"]);

/** Whether a host is of this machine or its network, by its address, or as a name without a domain. */
export function isOfOwnNetwork(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  if (ipaddr.isValid(bare)) return OWN_RANGES.has(ipaddr.process(bare).range());
  return !bare.includes(".") || /\.(localhost|internal|local)$/i.test(bare);
}
