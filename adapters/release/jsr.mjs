import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { isMain, readManifest, ROOT } from "./packages.mjs";

/**
 * Makes the package of JSR: `node jsr.mjs FOLDER`, for `deno publish --dry-run` in it. It has the same
 * built files as the one of npm, whose dependencies JSR finds by an import map.
 */
const NAME = "@perdure/perdure";
/** JSR has no field for the types of a module in JavaScript: its first line names them. */
const TYPES = { index: "../index.d.mts", workerd: "../workerd.d.mts" };

/** The manifest for JSR, from the one for npm. */
export function jsrManifest({ version, license, dependencies }) {
  return {
    ...{ name: NAME, version, license },
    exports: { ".": "./dist/index.mjs", "./workerd": "./dist/workerd.mjs" },
    imports: Object.fromEntries(
      Object.entries(dependencies).flatMap(([name, range]) => [
        [name, `npm:${name}@${range}`],
        [`${name}/`, `npm:/${name}@${range}/`],
      ]),
    ),
    publish: { include: ["LICENSE", "README.md", "deno.json", "*.d.mts", "dist/*.mjs"] },
  };
}

/** Writes the package into `folder`. Takes a second. */
export function writeJsr(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const build = path.join(ROOT, "adapters/package/build.mjs");
  const made = path.join(folder, "npm");
  execFileSync(process.execPath, [build, made], { stdio: "inherit" });
  const manifest = JSON.parse(readFileSync(path.join(made, "package.json"), "utf8"));
  cpSync(made, folder, { recursive: true });
  rmSync(made, { recursive: true });
  rmSync(path.join(folder, "package.json"));
  for (const [name, types] of Object.entries(TYPES)) {
    const file = path.join(folder, "dist", `${name}.mjs`);
    writeFileSync(file, `/* @ts-self-types="${types}" */\n${readFileSync(file, "utf8")}`);
  }
  const text = JSON.stringify(jsrManifest(manifest), null, 2);
  writeFileSync(path.join(folder, "deno.json"), `${text}\n`);
}

if (isMain(import.meta)) {
  const folder = path.resolve(process.argv[2] ?? "dist/jsr");
  writeJsr(folder);
  process.stdout.write(`${NAME} ${readManifest().version}\n`);
}
