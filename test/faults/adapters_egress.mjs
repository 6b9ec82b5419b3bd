// Faults in the check of where connections go.
const EGRESS = ["test/outbound/egress/connections.test.ts"];
const WORKERD_DIAL = ["test/workerd/dial.test.ts"];

export const adaptersEgress = [
  {
    file: "adapters/dial/guard.ts",
    what: "addresses that a name resolves to are not checked",
    find: "caught(() => this.#egress.checkResolved(to, address))",
    replace: "caught(() => void [to, address])",
    tests: EGRESS,
  },
  {
    file: "adapters/dial/guard.ts",
    what: "HTTP/1.1 resolves names on its own, unchecked",
    find: "const more = { lookup: this.lookup(to), ...tls?.(to) };",
    replace: "const more = { ...tls?.(to) };",
    tests: EGRESS,
  },
  {
    file: "adapters/dial/h2_session.ts",
    what: "HTTP/2 over TLS resolves names on its own, unchecked",
    find: "      lookup: settings.guard.lookup(to),\n",
    replace: "",
    tests: EGRESS,
  },
  {
    file: "adapters/dial/socket_stream.ts",
    what: "cleartext HTTP/2 resolves names on its own, unchecked",
    find: "      lookup: guard.lookup(to),\n",
    replace: "",
    tests: EGRESS,
  },
  {
    file: "adapters/workerd/check_url.ts",
    what: "on workerd, refused addresses are called",
    find: "  egress.checkUnresolved({ host: url.hostname, port });\n",
    replace: "  void [egress, port];\n",
    tests: WORKERD_DIAL,
  },
];
