import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import type { Collected } from "../../adapters/create/project.ts";

export const ROOT = path.resolve(import.meta.dirname, "../..");

/** An empty folder of a test's own. It is gone when the process ends. */
export function ownFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "create-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
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
