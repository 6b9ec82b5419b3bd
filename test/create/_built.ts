import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import type { Collected } from "../../adapters/create/project.ts";

export const ROOT = path.resolve(import.meta.dirname, "../..");

const own: string[] = [];

/** An empty folder of a test's own. `removeFolders` removes it. */
export function ownFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "create-"));
  own.push(folder);
  return folder;
}

/** Removes all folders of `ownFolder`. What has begun in them has ended. */
export function removeFolders(): void {
  for (const folder of own.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** The package `create-perdure` of the sources of now: its folder. */
export function built(): string {
  const target = path.join(ownFolder(), "create-perdure");
  execFileSync(process.execPath, [path.join(ROOT, "adapters/create/build.mjs"), target]);
  return target;
}

/** What the package has beside its program. */
export function collectedIn(folder: string): Collected {
  return JSON.parse(readFileSync(path.join(folder, "dist/starters.json"), "utf8"));
}
