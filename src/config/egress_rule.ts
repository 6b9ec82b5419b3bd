import ipaddr from "ipaddr.js";

/** A network: its first address, and how many bits of it count. */
export type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** An entry of `outbound.allow` or `outbound.deny` (docs/operate.md#outbound-requests). */
export interface EgressRule {
  /** As it was given. */
  readonly text: string;
  /** The hosts that it is about. `any`: every host and every address. */
  readonly target:
    | { readonly kind: "any" }
    | { readonly kind: "name"; readonly name: string; readonly isBelow: boolean }
    | { readonly kind: "network"; readonly network: Network };
  /** The ports that it is about, both included. Absent: all of them. */
  readonly ports?: readonly [from: number, to: number];
}

/** Says why a text is no entry of `outbound.allow` or `outbound.deny`. */
export class BadEgressRule extends RangeError {
  override name = "BadEgressRule";
}

const PORT_MAX = 65_535;

/**
 * Reads an entry: `*`, a host name, `*.domain` for all names below a domain, an address, or a network
 * such as `10.0.0.0/8`; each may end with `:port` or `:from-to`. An IPv6 address with ports stands in
 * brackets. Throws `BadEgressRule`.
 */
export function parseEgressRule(given: string): EgressRule {
  const text = given.trim();
  const { host, ports } = split(text);
  const target = targetOf(host);
  return { text, target, ...(ports !== undefined && { ports: portsOf(ports) }) };
}

function split(text: string): { readonly host: string; readonly ports?: string } {
  if (text.includes("://")) throw new BadEgressRule("it is a URL; give its host and port only");
  const bracketed = /^\[([^\]]*)\](\/\d+)?(?::(.*))?$/.exec(text);
  if (bracketed) {
    const [, inner = "", bits = "", ports] = bracketed;
    if (!ipaddr.IPv6.isValid(inner) && !ipaddr.IPv6.isValidCIDR(inner)) {
      throw new BadEgressRule("what stands in brackets is no IPv6 address or network");
    }
    return { host: inner + bits, ...(ports !== undefined && { ports }) };
  }
  const [host = "", ports, ...more] = text.split(":");
  if (more.length > 0 || ports === undefined) return { host: text };
  return { host, ports };
}

function portsOf(text: string): readonly [number, number] {
  const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (from >= 1 && from <= to && to <= PORT_MAX) return [from, to];
  throw new BadEgressRule(`"${text}" is no port from 1 to ${PORT_MAX}, and no range of them`);
}

function targetOf(host: string): EgressRule["target"] {
  if (host === "") throw new BadEgressRule('it has no host; "*" stands for every host');
  if (host === "*") return { kind: "any" };
  if (host.includes("/")) return { kind: "network", network: networkOf(host) };
  if (ipaddr.IPv4.isValidFourPartDecimal(host) || ipaddr.IPv6.isValid(host)) {
    const address = ipaddr.parse(host);
    return { kind: "network", network: [address, bitsOf(address)] };
  }
  return nameOf(host);
}

function networkOf(text: string): Network {
  if (!ipaddr.IPv4.isValidCIDRFourPartDecimal(text) && !ipaddr.IPv6.isValidCIDR(text)) {
    throw new BadEgressRule(`"${text}" is no network, such as "10.0.0.0/8" or "fd00::/8"`);
  }
  const [address, bits] = ipaddr.parseCIDR(text);
  const first = address.kind() === "ipv4"
    ? ipaddr.IPv4.networkAddressFromCIDR(text)
    : ipaddr.IPv6.networkAddressFromCIDR(text);
  if (first.toString() === address.toString()) return [address, bits];
  throw new BadEgressRule(`a network begins with its first address: "${first}/${bits}"`);
}

function bitsOf(address: ipaddr.IPv4 | ipaddr.IPv6): number {
  return address.toByteArray().length * 8;
}

function nameOf(host: string): EgressRule["target"] {
  const isBelow = host.startsWith("*.");
  const typed = isBelow ? host.slice(2) : host;
  if (typed.includes("*")) throw new BadEgressRule('"*" stands alone, or in front as "*."');
  const name = /^[\p{L}\p{M}\p{N}._-]+$/u.test(typed) ? normalized(typed) : undefined;
  if (name === undefined) throw new BadEgressRule(`"${typed}" is no host name and no address`);
  if (ipaddr.IPv4.isValid(name)) {
    throw new BadEgressRule(`it is a spelling of the address ${name}; write that`);
  }
  return { kind: "name", name, isBelow };
}

/** A name as URLs have it: lower case, Punycode, without the dot at its end. */
function normalized(name: string): string | undefined {
  const url = `http://${name}/`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.+$/, "") || undefined : undefined;
}
