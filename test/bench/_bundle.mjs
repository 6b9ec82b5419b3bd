// Modules of the sources, for programs outside of the build.
import { buildSync } from "esbuild";
import path from "node:path";
import { pathToFileURL } from "node:url";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** Bundles a source file, such as `src/assert.ts`, into `folder`. Returns the address of the module. */
export function bundle(source, folder) {
  const outfile = path.join(folder, `${path.basename(source, ".ts")}.mjs`);
  buildSync({
    entryPoints: [path.join(ROOT, source)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "warning",
  });
  return pathToFileURL(outfile).href;
}
