import { choice, duration, optionalText } from "./kinds.ts";
import { option } from "./option.ts";

const file = optionalText("the path of a file");

/** Settings of TLS on the ports of this server (docs/security.md#tls). */
export const tlsOptions = {
  "tls.cert-file": option(file, "", {
    doc:
      "The certificate of this server with those that lead to its root, as PEM. With it callers " +
      "and operators are served over TLS. Read again when it changes.",
  }),
  "tls.key-file": option(file, "", {
    doc: "The private key of the certificate, as PEM. Read again when it changes.",
  }),
  "tls.interfaces": option(choice("both", "ingress", "admin"), "both", {
    doc: "The interfaces that speak TLS where there is a certificate. The others stay without.",
  }),
  "tls.client-ca-file": option(file, "", {
    doc:
      "The authorities whose certificates clients may show, as PEM. The list of tokens says who " +
      "they are. Empty: none is asked for.",
  }),
  "tls.handshake-timeout": option(duration(1), "10s", {
    doc: "How long a client may take to agree on TLS. Then its connection is closed.",
  }),
} as const;
