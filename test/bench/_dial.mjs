// The client of attempts as the server has it (`src/http2` on a socket), for programs outside of the build.
import { buildSync } from "esbuild";
import path from "node:path";
import { pathToFileURL } from "node:url";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** Builds the client into `folder` and opens it. */
export async function openDial(folder) {
  const outfile = path.join(folder, "dial.mjs");
  buildSync({
    entryPoints: [path.join(ROOT, "adapters/dial/dial.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "warning",
  });
  const { nodeDial } = await import(pathToFileURL(outfile).href);
  return nodeDial();
}
