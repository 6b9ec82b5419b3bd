import { BadEgressRule, type EgressRule, parseEgressRule } from "./egress_rule.ts";
import { type Kind, optionalText, texts } from "./kinds.ts";
import { option } from "./option.ts";

/** Settings of where the server connects for operators (docs/operate.md#outbound-requests). */
export const outboundOptions = {
  "outbound.allow": option(egressRules(), "[]", {
    doc:
      "Where endpoints and Kafka clusters may lie although it is refused by default or by `outbound.deny`: hosts, networks, ports.",
  }),
  "outbound.deny": option(egressRules(), "[]", {
    doc:
      'Where no endpoint and no cluster may lie, besides what is refused by default. `["*"]`: only what `outbound.allow` names.',
  }),
  "outbound.tls.ca-file": option(optionalText("the path of a file"), "", {
    doc: "Authorities of endpoints that are trusted beside those of the system, as PEM.",
  }),
  "outbound.tls.cert-file": option(optionalText("the path of a file"), "", {
    doc: "The client certificate that endpoints are shown which ask for one, as PEM.",
  }),
  "outbound.tls.key-file": option(optionalText("the path of a file"), "", {
    doc: "The private key of that certificate, as PEM.",
  }),
  "outbound.tls.server-names": option(serverNames(), "[]", {
    doc: "Names in certificates of endpoints that are called otherwise, such as " +
      '`["10.0.0.5:9080=orders.internal"]`.',
  }),
} as const;

const SERVER_NAME = /^([^=\s]+)=([a-z0-9.-]+)$/i;

/** Hosts, with or without a port, and the names that their certificates have. */
function serverNames(): Kind<readonly string[]> {
  const { read, print } = texts();
  return {
    expected: 'a list of hosts with names, such as ["10.0.0.5:9080=orders.internal"]',
    read: (given) => {
      const entries = read(given);
      return entries?.every((entry) => SERVER_NAME.test(entry)) ? entries : undefined;
    },
    print,
  };
}

/** Hosts, networks and ports. Refusals name the entry that cannot be read. */
function egressRules(): Kind<readonly EgressRule[]> {
  const { read: readTexts, print: printTexts } = texts();
  return {
    expected:
      'a list of hosts, networks and ports, such as ["*.example.com:443", "10.0.0.0/8", "*:25"]',
    read: (given) => {
      const entries = readTexts(given);
      return entries?.some((entry) => whyNot(entry) !== undefined)
        ? undefined
        : entries?.map(parseEgressRule);
    },
    why: (given) => {
      for (const entry of readTexts(given) ?? []) {
        const reason = whyNot(entry);
        if (reason !== undefined) return `entry ${JSON.stringify(entry)}: ${reason}`;
      }
      return undefined;
    },
    print: (rules) => printTexts(rules.map(({ text }) => text)),
  };
}

function whyNot(entry: string): string | undefined {
  try {
    parseEgressRule(entry);
    return undefined;
  } catch (cause) {
    if (cause instanceof BadEgressRule) return cause.message;
    throw cause;
  }
}
