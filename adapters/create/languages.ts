/** The sources of a starter that a language takes. `fetch`: TypeScript behind a handler of the Fetch API. */
export type Sources = "typescript" | "fetch" | "python" | "go" | "rust" | "java" | "kotlin";

export interface Language {
  readonly title: string;
  readonly sources: Sources;
  /** What has to be installed before. */
  readonly needs: string;
  /** The elements of the array of which `server.mjs` makes the process of the handlers. `port` is a string. */
  readonly command: string;
  /** The same for a shell and the usual port. Absent: `perdure dev` starts and registers them. */
  readonly serve?: string;
  /** Whether HTTP/1.1 is all that serves the handlers. */
  readonly isHttp1: boolean;
  /** What is run once, then the test. */
  readonly install: readonly string[];
  readonly test: string;
}

const VENV = `process.platform === "win32" ? ".venv/Scripts/hypercorn" : ".venv/bin/hypercorn"`;
const NPM = { install: ["npm install"], test: "npm test" };
const MAVEN = {
  needs: "Java 17 or later with Maven, and Node 22.18 or later for the server",
  command: `"mvn", "--quiet", "compile", "exec:java", \`-Dexec.args=\${port}\``,
  serve: "mvn --quiet compile exec:java -Dexec.args=9080",
  isHttp1: false,
  install: ["npm install", "mvn --quiet compile"],
  test: "npm test",
};

/** The languages that are offered: each of them is tried by test/create, with every starter. */
export const LANGUAGES: Readonly<Record<string, Language>> = {
  node: {
    title: "TypeScript on Node",
    sources: "typescript",
    needs: "Node 22.18 or later",
    command: `process.execPath, "handlers.ts"`,
    isHttp1: false,
    ...NPM,
  },
  deno: {
    title: "TypeScript on Deno",
    sources: "typescript",
    needs: "Deno 2.9 or later",
    command: `process.execPath, "run", "--allow-all", "handlers.ts"`,
    isHttp1: false,
    install: ["deno install"],
    test: "deno task test",
  },
  bun: {
    title: "TypeScript on Bun",
    sources: "fetch",
    needs: "Bun, and Node 22.18 or later for the server",
    command: `"bun", "handlers.ts"`,
    serve: "PORT=9080 bun handlers.ts",
    isHttp1: true,
    ...NPM,
  },
  workers: {
    title: "TypeScript on Workers",
    sources: "fetch",
    needs: "Node 22.18 or later",
    command: `process.execPath, "node_modules/wrangler/bin/wrangler.js", "dev", "--ip", ` +
      `"127.0.0.1", "--port", port`,
    serve: "npx wrangler dev --ip 127.0.0.1 --port 9080",
    isHttp1: true,
    ...NPM,
  },
  python: {
    title: "Python",
    sources: "python",
    needs: "Python 3.11 or later, and Node 22.18 or later for the server",
    command: `${VENV}, "handlers:app", "--bind", \`127.0.0.1:\${port}\``,
    serve: ".venv/bin/hypercorn handlers:app --bind 127.0.0.1:9080",
    isHttp1: false,
    install: [
      "python3 -m venv .venv",
      ".venv/bin/pip install -r requirements.txt",
      "npm install",
    ],
    test: "npm test",
  },
  go: {
    title: "Go",
    sources: "go",
    needs: "Go 1.25 or later, and Node 22.18 or later for the server",
    command: `"go", "run", ".", \`127.0.0.1:\${port}\``,
    serve: "go run . 127.0.0.1:9080",
    isHttp1: false,
    ...NPM,
  },
  rust: {
    title: "Rust",
    sources: "rust",
    needs: "Rust 1.90 or later, and Node 22.18 or later for the server",
    command: `"cargo", "run", "--quiet", "--", \`127.0.0.1:\${port}\``,
    serve: "cargo run -- 127.0.0.1:9080",
    isHttp1: false,
    install: ["npm install", "cargo build"],
    test: "npm test",
  },
  java: { title: "Java", sources: "java", ...MAVEN },
  kotlin: { title: "Kotlin", sources: "kotlin", ...MAVEN },
};

/** The starters: folders of docs/examples, the smallest first. */
export const STARTERS: Readonly<Record<string, string>> = {
  greeter: "A first service: a step whose result is kept, and a sleep",
  "order-saga": "An order that undoes its steps when a later one fails",
  device: "A counter for each device, and a timer that notices when one is offline",
  agent: "A model with tools that asks a human for approval",
};
