import ipaddr from "ipaddr.js";
import type { Network } from "../../config/egress_rule.ts";

type Form = ipaddr.IPv4 | ipaddr.IPv6;

/** Where an IPv6 address carries an IPv4 address, by its prefix: the number of its first byte. */
const CARRIERS: readonly (readonly [prefix: string, at: number])[] = [
  // Mapped (RFC 4291), compatible (the same, obsolete), translated (RFC 2765).
  ["::ffff:0:0/96", 12],
  ["::/96", 12],
  ["::ffff:0:0:0/96", 12],
  // NAT64 (RFC 6052), and its prefix for local use (RFC 8215) with a length of 96.
  ["64:ff9b::/96", 12],
  ["64:ff9b:1::/48", 12],
  // 6to4 (RFC 3056).
  ["2002::/16", 2],
];
const CARRYING = CARRIERS.map(([prefix, at]) => [ipaddr.parseCIDR(prefix), at] as const);

/**
 * An IP address, and the IPv4 address that it carries if it is an IPv6 one that does: a gateway or the
 * system itself connects to that one, so that it counts as well.
 */
export class IpAddress {
  /** As it is printed in messages. */
  readonly text: string;
  readonly #forms: readonly Form[];

  private constructor(address: Form) {
    this.text = address.toString();
    const carried = address instanceof ipaddr.IPv6 ? carriedBy(address) : undefined;
    this.#forms = carried ? [address, carried] : [address];
  }

  /**
   * Reads an address as URLs and resolvers spell it: dotted decimal, or IPv6 with or without brackets
   * and with or without a zone. Undefined: it is a name.
   */
  static parse(text: string): IpAddress | undefined {
    const bare = text.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
    // `isValid` of a name throws and catches, which takes 20 µs each time.
    if (bare.includes(":")) {
      return ipaddr.IPv6.isValid(bare) ? new IpAddress(ipaddr.IPv6.parse(bare)) : undefined;
    }
    const isIPv4 = /^[\d.]+$/.test(bare) && ipaddr.IPv4.isValidFourPartDecimal(bare);
    return isIPv4 ? new IpAddress(ipaddr.IPv4.parse(bare)) : undefined;
  }

  isIn([network, bits]: Network): boolean {
    return this.#forms.some((form) => form.kind() === network.kind() && form.match(network, bits));
  }

  /** Whether both are the same address, or one carries the other. */
  equals(other: IpAddress): boolean {
    return this.#forms.some((form) => other.#forms.some((one) => `${one}` === `${form}`));
  }

  /** Whether a connection to it stays on this machine: loopback and `0.0.0.0` and `::` do. */
  get isLoopback(): boolean {
    return this.#forms.some((form) => ["loopback", "unspecified"].includes(form.range()));
  }
}

function carriedBy(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const carrier = CARRYING.find(([[network, bits]]) => address.match(network, bits));
  if (!carrier) return undefined;
  const [, at] = carrier;
  return new ipaddr.IPv4(address.toByteArray().slice(at, at + 4));
}
