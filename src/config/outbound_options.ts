import { BadEgressRule, type EgressRule, parseEgressRule } from "./egress_rule.ts";
import { duration, type Kind, optionalText, optionalUrl, texts } from "./kinds.ts";
import { option } from "./option.ts";

const VARIABLE = /^[a-z_][a-z0-9_]*\*?$/i;

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
  "outbound.header-variables": option(variables(), '["PERDURE_HEADER_*"]', {
    doc:
      "Variables of the environment that deployments may name as values of headers; `*` at the end of a name is anything. Settings of the server are refused always.",
  }),
  "outbound.id-token.issuer": option(optionalUrl(), "", {
    doc: "`iss` of the ID tokens that this server signs for endpoints: the URL below which " +
      "`.well-known/jwks.json` is found. Set with a key.",
  }),
  "outbound.id-token.private-key-pem-file": option(optionalText("the path of a file"), "", {
    doc: "The key that signs them (PKCS#8, PEM): Ed25519, RSA or P-256. Of several, the first " +
      "one signs and all are published. Read again when it changes.",
  }),
  "outbound.id-token.private-key-pem": option(optionalText("a key as PEM"), "", {
    doc: "The same key itself, for the environment: line breaks may be written `\\n`.",
    secret: true,
  }),
  "outbound.id-token.lifetime": option(duration(60_000), "10m", {
    doc: "How long they are valid. They are replaced after three quarters of it.",
  }),
  "outbound.id-token.google-key-file": option(optionalText("the path of a file"), "", {
    doc: "The JSON key of a service account, whose token endpoint makes ID tokens for endpoints " +
      "behind Google's access control. Read again when it changes.",
  }),
  "outbound.id-token.google-key": option(optionalText("the key of a service account"), "", {
    doc: "The same JSON itself, for the environment.",
    secret: true,
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

/** Names of variables, or how they begin. */
function variables(): Kind<readonly string[]> {
  const { read, print } = texts();
  return {
    expected: 'a list of names of variables, such as ["PERDURE_HEADER_*", "ORDERS_TOKEN"]',
    read: (given) => {
      const entries = read(given);
      return entries?.every((entry) => VARIABLE.test(entry)) ? entries : undefined;
    },
    print,
  };
}

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
