import { type EgressRule, parseEgressRule } from "../../config/egress_rule.ts";

const LINK_LOCAL = "a link-local address, where clouds keep their metadata";
const METADATA = "where a cloud keeps its metadata and credentials";

/** What is refused unless `outbound.allow` names it: entries as of `outbound.deny`, and why. */
const DEFAULTS: Readonly<Record<string, string>> = {
  // AWS, Azure, Google Cloud, DigitalOcean, Oracle, Tencent, and credentials of containers.
  "169.254.0.0/16": LINK_LOCAL,
  "fe80::/10": LINK_LOCAL,
  // AWS over IPv6: metadata, credentials of containers.
  "fd00:ec2::/32": METADATA,
  // Google Cloud over IPv6.
  "fd20:ce::254": METADATA,
  // Scaleway over IPv6.
  "fd00:42::42": METADATA,
  // Alibaba Cloud.
  "100.100.100.200": METADATA,
  // Oracle Cloud, first generation.
  "192.0.0.192": METADATA,
  // Azure: the agent of the host.
  "168.63.129.16": METADATA,
  // The same by name, for platforms without a resolver to ask.
  "metadata.google.internal": METADATA,
  "metadata.goog": METADATA,
  "metadata.tencentyun.com": METADATA,
  "instance-data.ec2.internal": METADATA,
  "metadata.oraclecloud.com": METADATA,
  "api.metadata.cloud.ibm.com": METADATA,
};

/** A rule of `DEFAULTS`, and why it is there. */
export interface DefaultRule {
  readonly rule: EgressRule;
  readonly why: string;
}

/** What is refused unless `outbound.allow` names it, without the ports of the server itself. */
export const defaultRules: readonly DefaultRule[] = Object.entries(DEFAULTS)
  .map(([text, why]) => ({ rule: parseEgressRule(text), why }));
