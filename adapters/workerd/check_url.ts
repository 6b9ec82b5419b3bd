import { ForbiddenAddress } from "../../src/dial.ts";
import type { Egress } from "../../src/outbound/egress/egress.ts";

/**
 * Checks where a URL leads. workerd resolves names itself and shows no addresses, so that names are
 * checked as names only. Throws `ForbiddenAddress`.
 */
export function checkUrl(url: URL, egress: Egress): void {
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  egress.checkUnresolved({ host: url.hostname, port });
}

/** Why there may be no connection to a URL. Undefined: there may be one. */
export function refusalOf(url: URL, egress: Egress): ForbiddenAddress | undefined {
  try {
    checkUrl(url, egress);
    return undefined;
  } catch (cause) {
    if (cause instanceof ForbiddenAddress) return cause;
    throw cause;
  }
}
