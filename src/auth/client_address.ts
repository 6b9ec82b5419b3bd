import ipaddr from "ipaddr.js";

/** The address that a request comes from. Undefined: it is not known. */
export type AddressOf = (request: Request) => string | undefined;

/**
 * Which client sent a request, as far as an address tells (docs/security.md#wrong-tokens): an IPv4 address,
 * or the /64 network of an IPv6 address, since a client may have all of one. Of a header with a list the
 * last address counts, because earlier ones are what the client sent itself. `header`: in which a proxy in
 * front tells the address of its client. Undefined: none does. `ofConnection`: undefined where the
 * platform does not know it.
 */
export function clientAddress(
  header: string | undefined,
  ofConnection: AddressOf | undefined,
): AddressOf {
  return (request) => {
    const told = header === undefined ? null : request.headers.get(header);
    const forwarded = told === null ? undefined : networkOf(told.split(",").at(-1)!);
    return forwarded ?? networkOf(ofConnection?.(request) ?? "");
  };
}

/** Undefined: the text is no address. */
function networkOf(text: string): string | undefined {
  const bare = text.trim().replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  if (!bare.includes(":")) return ipaddr.IPv4.isValidFourPartDecimal(bare) ? bare : undefined;
  if (!ipaddr.IPv6.isValid(bare)) return undefined;
  const address = ipaddr.IPv6.parse(bare);
  // So a socket of IPv6 tells an IPv4 address.
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString();
  return `${address.parts.slice(0, 4).map((part) => part.toString(16)).join(":")}::/64`;
}
