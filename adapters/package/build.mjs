import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/**
 * Writes the folder of which `npm run package` makes the tarball: `dist/package`, or the one that the
 * first argument names. The UI is built before. Takes some 500 ms.
 */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const HERE = fileURLToPath(new URL(".", import.meta.url));
/** What the built files import at run time; everything else is in them. */
const AT_RUN_TIME = ["@libsql/client", "commander", "kafkajs", "libsql"];
const FILES = ["LICENSE", "README.md", "index.d.mts", "workerd.d.mts", "dist/*.mjs"];

const root = JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8"));
const target = path.resolve(process.argv[2] ?? path.join(ROOT, "dist/package"));
const dist = path.join(target, "dist");

/** The options of `npm run build:server`, whose files these are. */
function serverOptions() {
  const words = root.scripts["build:server"].split(" ").slice(1);
  const valueOf = (flag) => words.find((word) => word.startsWith(`${flag}=`))?.split("=")[1];
  const entries = words.filter((word) => /^\w+=/.test(word)).map((word) => word.split("="));
  return {
    entryPoints: Object.fromEntries(entries),
    platform: valueOf("--platform"),
    target: valueOf("--target"),
    external: words.flatMap((word) => word.startsWith("--external:") ? [word.slice(11)] : []),
    minifyWhitespace: words.includes("--minify-whitespace"),
    lineLimit: Number(valueOf("--line-limit")),
  };
}

/** As `wrangler` bundles a Worker. */
const workerOptions = {
  entryPoints: { workerd: "adapters/workerd.ts" },
  platform: "browser",
  target: "es2024",
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:*", "node:*"],
  minifyWhitespace: true,
};

async function bundle(options) {
  await build({
    ...{ absWorkingDir: ROOT, bundle: true, format: "esm", outdir: dist, logLevel: "warning" },
    outExtension: { ".js": ".mjs" },
    ...options,
  });
}

/** The manifest: what is said of the program once is taken from the manifest of the repository. */
function manifest() {
  const { name, version, description, license, type, engines, dependencies } = root;
  const repository = process.env.PACKAGE_REPOSITORY;
  const worker = { types: "./workerd.d.mts", default: "./dist/workerd.mjs" };
  const server = { types: "./index.d.mts", default: "./dist/index.mjs" };
  return {
    ...{ name, version, description, license, type, engines },
    keywords: ["durable-execution", "workflows", "server"],
    // The release says where it is made: provenance needs it, and no source names a host.
    ...(repository && { repository: { type: "git", url: repository } }),
    bin: { perdure: "dist/perdure.mjs" },
    exports: {
      ".": { workerd: worker, deno: server, node: server },
      "./workerd": worker,
      "./package.json": "./package.json",
    },
    files: FILES,
    dependencies: Object.fromEntries(AT_RUN_TIME.map((one) => [one, dependencies[one]])),
    // npm then publishes from a release workflow only: elsewhere it cannot prove where it was built.
    publishConfig: { access: "public", provenance: true },
  };
}

await rm(target, { recursive: true, force: true });
await mkdir(dist, { recursive: true });
await bundle(serverOptions());
await bundle(workerOptions);
await copyFile(path.join(ROOT, "LICENSE"), path.join(target, "LICENSE"));
await copyFile(path.join(HERE, "front_page.md"), path.join(target, "README.md"));
for (const name of FILES.filter((one) => one.endsWith(".d.mts"))) {
  await copyFile(path.join(HERE, name), path.join(target, name));
}
await writeFile(path.join(target, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
