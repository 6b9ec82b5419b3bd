import type { Egress } from "../../src/outbound/egress/egress.ts";

/**
 * Checks where a URL leads. workerd resolves names itself and shows no addresses, so that names are
 * checked as names only. Throws `ForbiddenAddress`.
 */
export function checkUrl(url: URL, egress: Egress): void {
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  egress.checkUnresolved({ host: url.hostname, port });
}
