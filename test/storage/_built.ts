import { buildSync } from "esbuild";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = new URL("../../", import.meta.url);
// Inside node_modules, so that what is not bundled is found from there.
const out = new URL("node_modules/.cache/perdure-test-storage/", root);

/** Node 20 runs no TypeScript in threads and processes: builds a module and says where it is. */
export function built(module: "adapters/libsql/file/worker.ts" | "test/storage/_child.ts"): URL {
  const name = module.replace(/^.*\//, "").replace(/\.ts$/, "");
  const file = new URL(`${name}.${process.pid}.mjs`, out);
  buildSync({
    entryPoints: [fileURLToPath(new URL(module, root))],
    outfile: fileURLToPath(file),
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    packages: "external",
    logLevel: "error",
  });
  return pathToFileURL(fileURLToPath(file));
}
