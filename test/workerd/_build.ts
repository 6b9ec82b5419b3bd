import { buildSync } from "esbuild";
import { readFileSync } from "node:fs";
import path from "node:path";
import { assert } from "../../src/assert.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** A module for workerd, bundled as `wrangler` does it. `entry`: its path from the root. */
export function bundled(entry: string, { minify = false } = {}): string {
  const { outputFiles: [file] } = build(entry, minify);
  assert(file, "A bundle is one file");
  return file.text;
}

/** The modules that such a bundle asks its runtime for. */
export function importsOf(entry: string): string[] {
  const { outputs } = build(entry, false).metafile;
  const imports = Object.values(outputs).flatMap((output) => output.imports);
  return [...new Set(imports.map((one) => one.path))];
}

function build(entry: string, minify: boolean) {
  return buildSync({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify,
    format: "esm",
    target: "es2024",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*"],
    logLevel: "silent",
    metafile: true,
  });
}

/** `compatibility_date` of `wrangler.toml`: tests run what is deployed. */
export function compatibilityDate(): string {
  const text = readFileSync(path.join(ROOT, "wrangler.toml"), "utf8");
  const [, date] = /^compatibility_date = "([\d-]+)"$/m.exec(text) ?? [];
  assert(date, "wrangler.toml has a compatibility date");
  return date;
}
