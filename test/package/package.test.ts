import { buildSync } from "esbuild";
import { execFile, execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { Miniflare } from "miniflare";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { denoProgram } from "../support/build.ts";
import type { Child } from "../support/child.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { missing } from "../support/fetched.ts";
import { node22, node24 } from "../support/fetched_node.ts";
import { compatibilityDate } from "../workerd/_build.ts";
import { emptyHome, install, manifestOf, pack, type Packed, ROOT } from "./_installed.ts";
import { isWhole, start, START_MS } from "./_serves.ts";

const PACKED_MAX = 3_000_000;
const others = {
  "Node 22": await node22("the tests of the package on Node 22"),
  "Node 24": await node24("the tests of the package on Node 24"),
};

const packed: Packed = pack();
const env = emptyHome(packed.root);
const folder = installed();
let endpoint: Endpoint;
let child: Child | undefined;
let served = 0;

beforeAll(async () => void (endpoint = await startEndpoint("h2")));
afterEach(() => void child?.stop());
afterAll(async () => {
  await child?.stop();
  await endpoint?.close();
  rmSync(packed.root, { recursive: true, force: true });
});

/** Undefined, after a warning, where its dependencies cannot be had. */
function installed(): string | undefined {
  try {
    return install(packed, env);
  } catch (cause) {
    const { stderr = cause } = cause as { readonly stderr?: unknown };
    return missing("the tests of the installed package", `npm: ${String(stderr).slice(0, 500)}`);
  }
}

test("the tarball has what users need and nothing else", () => {
  expect(packed.files.map((one) => one.path).toSorted()).toEqual([
    "LICENSE",
    "README.md",
    "dist/cli.mjs",
    "dist/deno.mjs",
    "dist/index.mjs",
    "dist/kafka.mjs",
    "dist/libsql_query_child.mjs",
    "dist/libsql_worker.mjs",
    "dist/node.mjs",
    "dist/perdure.mjs",
    "dist/workerd.mjs",
    "index.d.mts",
    "package.json",
    "workerd.d.mts",
  ]);
  expect(packed.size).toBeLessThan(PACKED_MAX);
});

test("a character of a program takes one byte", () => {
  // With a single character that is not of ASCII, V8 keeps the whole text of a file with two bytes each.
  const folder = path.join(packed.root, "package/dist");
  const longer = readdirSync(folder).filter((name) => {
    const text = readFileSync(path.join(folder, name), "utf8");
    return /[^\0-\x7f]/.test(text);
  });
  expect(longer).toEqual([]);
});

test("the repository itself is not packed, and says what is", () => {
  const args = ["pack", "--dry-run"];
  expect(() => execFileSync("npm", args, { cwd: ROOT, stdio: "pipe" })).toThrow("npm run package");
});

test("npm publishes nothing from a machine that is no release workflow", async () => {
  const asked: string[] = [];
  const registry = createServer(({ method, url }, response) => {
    asked.push(`${method} ${url}`);
    response.writeHead(404).end("{}");
  });
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  const { port } = registry.address() as AddressInfo;
  const args = ["publish", packed.file, "--registry", `http://127.0.0.1:${port}`];
  const shown = `--//127.0.0.1:${port}/:_authToken=none`;
  const published = promisify(execFile)("npm", [...args, shown], { env, cwd: packed.root });
  await expect(published).rejects.toThrow(/provenance/);
  expect(asked.filter((one) => one.startsWith("PUT"))).toEqual([]);
  registry.close();
});

/** Serves a call by these words. */
async function serves(command: readonly [string, ...string[]], before = ""): Promise<void> {
  const place = { folder: folder!, env: { ...env, PATH: `${before}${env["PATH"]}` } };
  const started = await start(command, place, `${served++}`);
  child = started.child;
  await isWhole(started.server, endpoint);
  await child.stop("SIGTERM");
}

const programIn = (at: string) => path.join(at, "node_modules/perdure/dist/perdure.mjs");

describe.skipIf(folder === undefined)("the installed package", () => {
  test("depends on little", () => {
    const names = Object.keys(manifestOf(folder!)["dependencies"] as object);
    expect(names).toEqual(["@libsql/client", "commander", "kafkajs", "libsql"]);
  });

  test("serves a call by npx, on the Node of these tests", async () => {
    await serves(["npx", "perdure"]);
  }, START_MS);

  for (const [name, node] of Object.entries(others)) {
    test.skipIf(!node)(`serves a call by npx on ${name}`, async () => {
      await serves(["npx", "perdure"], `${path.dirname(node!)}:`);
    }, START_MS);
  }

  test("serves a call on Deno", async () => {
    const deno = [denoProgram(), "run", "--allow-all", "--unstable-no-legacy-abort"] as const;
    await serves([...deno, programIn(folder!)]);
  }, START_MS);

  test("its sidecar of Kafka starts where it lies", () => {
    const file = path.join(folder!, "node_modules/perdure/dist/kafka.mjs");
    const args = ["-i", `PATH=${env["PATH"]}`, process.execPath, file, "--help"];
    expect(execFileSync("env", args, { encoding: "utf8" })).toContain("The Kafka sidecar");
  });

  test("a program starts a server with it, with types", async () => {
    const source = `import { startServer, VERSION } from "perdure";
const server = await startServer({
  args: ["--base-dir", "data", "--ingress.bind-port", "0", "--admin.bind-port", "0"],
});
const { status } = await fetch(\`\${server.admin}/health\`);
await server.stop();
console.log(VERSION.length > 0, status, await server.ended);
`;
    for (const name of ["uses.mts", "uses.mjs"]) writeFileSync(path.join(folder!, name), source);
    const worker = `export { Admin, default, PartitionObject } from "perdure/workerd";\n`;
    writeFileSync(path.join(folder!, "worker.mts"), worker);
    const tsc = path.join(ROOT, "node_modules/typescript/bin/tsc");
    const options = ["--module", "nodenext", "--strict", "--noEmit", "--lib", "es2023,dom"];
    const words = [tsc, ...options, "uses.mts", "worker.mts"];
    execFileSync(process.execPath, words, { cwd: folder!, stdio: "pipe" });
    const ran = promisify(execFile)(process.execPath, ["uses.mjs"], { cwd: folder!, env });
    expect((await ran).stdout).toContain("true 200 0");
  }, START_MS);

  test("a Worker that exports it answers on workerd", async () => {
    const contents = `export { Admin, default, PartitionObject } from "perdure";`;
    const { outputFiles: [file] } = buildSync({
      stdin: { contents, resolveDir: folder! },
      ...{ bundle: true, write: false, format: "esm", conditions: ["workerd"] },
      external: ["cloudflare:*", "node:*"],
    });
    const miniflare = new Miniflare({
      ...{ modules: true, script: file!.text, compatibilityDate: compatibilityDate() },
      durableObjects: { PARTITION: { className: "PartitionObject", useSQLite: true } },
    });
    const at = await miniflare.ready;
    expect((await fetch(new URL("/admin/health", at))).status).toBe(200);
    expect((await fetch(new URL("/svc/health", at))).status).toBe(200);
    await miniflare.dispose();
  }, START_MS);
});
