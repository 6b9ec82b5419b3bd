import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * The packages of a release. `build`: a script that writes the folder that its first argument names, with
 * a manifest of its own. `files`: what may be in the tarball; users need nothing else. `bytesMax`: its size.
 */
export const PACKAGES = [
  {
    name: "perdure",
    build: "adapters/package/build.mjs",
    files: [/^(package\.json|LICENSE|README\.md)$/, /^\w+\.d\.mts$/, /^dist\/\w+\.mjs$/],
    bytesMax: 3_000_000,
  },
  {
    name: "create-perdure",
    build: "adapters/create/build.mjs",
    files: [/^(package\.json|LICENSE|README\.md)$/, /^dist\/[\w-]+\.(mjs|json)$/],
    bytesMax: 200_000,
  },
];

/** The manifest of the repository. */
export const readManifest = () => JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));

/**
 * How npm is started: on Windows it is a script of the shell, which Node starts through the shell only.
 * Words are put in quotes there, for folders have spaces in their names.
 */
export function npmCommand(args, platform = process.platform) {
  if (platform !== "win32") return { file: "npm", args: [...args], shell: false };
  return { file: "npm.cmd", args: args.map((one) => `"${one}"`), shell: true };
}

/** What npm prints for these words. Throws what it complains about. */
export function npm(args, { cwd = ROOT } = {}) {
  const { file, args: words, shell } = npmCommand(args);
  const options = { cwd, shell, encoding: "utf8", maxBuffer: 2 ** 26 };
  return execFileSync(file, words, { ...options, stdio: ["ignore", "pipe", "pipe"] });
}

/** Whether a module is the program that runs, and is not imported by a test. */
export const isMain = (meta) =>
  process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(meta.url);

/** Prints what is wrong, a line each, and ends with 1 if something is. */
export function report(problems) {
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}
