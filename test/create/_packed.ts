import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { buildUi } from "../support/build.ts";
import { built, ownFolder, ROOT } from "./_built.ts";
import type { Tarball } from "./_registry.ts";

export interface BothPacked {
  readonly perdure: Tarball;
  readonly create: Tarball;
  /** The files in the tarball of `create-perdure`, and its size in bytes. */
  readonly files: readonly string[];
  readonly size: number;
}

/** Both tarballs of the sources of now, as `npm run package` makes them. */
export function packBoth(): BothPacked {
  const folder = path.join(ownFolder(), "perdure");
  buildUi();
  execFileSync(process.execPath, [path.join(ROOT, "adapters/package/build.mjs"), folder]);
  const create = pack(built());
  return { perdure: pack(folder), ...create, create };
}

function pack(folder: string): Tarball & { files: string[]; size: number } {
  const args = ["pack", folder, "--json", "--pack-destination", path.dirname(folder)];
  const [about] = JSON.parse(execFileSync("npm", args, { encoding: "utf8", stdio: "pipe" }));
  const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  const files = about.files.map((one: { readonly path: string }) => one.path);
  return {
    file: path.join(path.dirname(folder), about.filename),
    manifest,
    files,
    size: about.size,
  };
}
