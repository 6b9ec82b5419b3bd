import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { buildUi } from "../support/build.ts";

export const ROOT = path.resolve(import.meta.dirname, "../..");
/** How a registry and its certificates are named; nothing else of the environment is passed on. */
const PASSED =
  /^(PATH|npm_config_(cafile|https?_proxy|noproxy)|(https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|DENO_(CERT|TLS_CA_STORE))$/i;
const INSTALL_MS = 120_000;

export interface Packed {
  readonly size: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** The tarball. */
  readonly file: string;
  /** A folder of its own, to be deleted. */
  readonly root: string;
}

/** The tarball of the sources of now, as `npm run package` makes it. */
export function pack(): Packed {
  const root = mkdtempSync(path.join(tmpdir(), "package-"));
  const made = path.join(root, "package");
  buildUi();
  execFileSync(process.execPath, [path.join(ROOT, "adapters/package/build.mjs"), made]);
  const args = ["pack", made, "--json", "--pack-destination", root];
  const [about] = JSON.parse(execFileSync("npm", args, { encoding: "utf8", stdio: "pipe" }));
  return { ...about, file: path.join(root, about.filename), root };
}

/** An environment with a home in which nothing is. */
export function emptyHome(root: string): Record<string, string> {
  const home = path.join(root, "home");
  mkdirSync(home, { recursive: true });
  const passed = Object.entries(process.env).flatMap(([name, text]) =>
    PASSED.test(name) && text !== undefined ? [[name, text] as const] : []
  );
  const npm = (name: string) =>
    execFileSync("npm", ["config", "get", name], { encoding: "utf8" }).trim();
  return {
    ...Object.fromEntries(passed),
    HOME: home,
    NPM_CONFIG_REGISTRY: npm("registry"),
    // What was fetched before is not fetched again; a registry is asked for the rest only.
    NPM_CONFIG_CACHE: npm("cache"),
    NPM_CONFIG_PREFER_OFFLINE: "true",
  };
}

/** Installs the tarball into an empty folder, without running any script. Throws what npm says. */
export function install({ file, root }: Packed, env: NodeJS.ProcessEnv): string {
  const folder = path.join(root, "installed");
  mkdirSync(folder);
  writeFileSync(path.join(folder, "package.json"), `{ "private": true, "type": "module" }\n`);
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", file];
  execFileSync("npm", args, { cwd: folder, env, stdio: "pipe", timeout: INSTALL_MS });
  return folder;
}

/** The manifest of the package where it is installed. */
export function manifestOf(folder: string): Record<string, unknown> {
  const file = path.join(folder, "node_modules/perdure/package.json");
  return JSON.parse(readFileSync(file, "utf8"));
}
