const breaks = "known-connections";
const bad: readonly (readonly [says: string, file: string, code: string])[] = [
  ["calls fetch", "src/observe/bad_fetch.ts", `await fetch("http://x");\n`],
  ["lends fetch", "src/auth/bad_lent.ts", "export const world = { fetch };\n"],
  ["reaches it by globalThis", "src/kafka/bad_global.ts", "export const f = globalThis.fetch;\n"],
  ["opens a WebSocket", "src/admin/bad_socket.ts", `new WebSocket("ws://x");\n`],
  [
    "imports a client",
    "adapters/platform/bad_http.ts",
    `import http from "node:http";\nhttp.get("");\n`,
  ],
  [
    "imports what connects",
    "adapters/kafka/bad_net.ts",
    `import { connect } from "node:net";\nconnect(1);\n`,
  ],
  [
    "loads one later",
    "adapters/tools/bad_tls.ts",
    `export const tls = () => import("node:tls");\n`,
  ],
];

/** What the rule of connections refuses, and what it does not. */
export const connectionSnippets = [
  ...bad.map(([says, file, code]) => ({ says: `no unknown file ${says}`, file, code, breaks })),
  {
    says: "a file that is known to connect may",
    file: "adapters/dial/good_connect.ts",
    code: `import net from "node:net";\nnet.connect(1);\n`,
  },
  {
    says: "a server may listen, and have a method called fetch",
    file: "adapters/node/good_listen.ts",
    code: `import { createServer, type Server } from "node:http";\n` +
      `export const server: Server = createServer();\n` +
      `export class Worker { fetch(): void { this.fetch(); } }\n`,
  },
];
