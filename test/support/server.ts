import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { denoCommand, nodeEntry } from "./build.ts";
import { Child, freePorts, until } from "./child.ts";

export type RuntimeName = "node" | "deno";

export interface ServerOptions {
  readonly runtime: RuntimeName;
  /** Settings by environment name without prefix: `INGRESS__DRAIN_TIMEOUT`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Further variables of its environment, by their names. */
  readonly env?: Readonly<Record<string, string>>;
  /** Words of its command line that are left out. */
  readonly without?: RegExp;
}

/** What tests show as the sidecar of Kafka. */
export const SIDECAR_TOKEN = "a-token-for-tests";

/** Settings that make tests quick: everything that waits by design waits less. */
export const QUICK = {
  DEFAULT_RETRY_POLICY__INITIAL_INTERVAL: "20ms",
  DEFAULT_RETRY_POLICY__MAX_INTERVAL: "200ms",
  WORKER__INVOKER__INACTIVITY_TIMEOUT: "300ms",
  WORKER__INVOKER__ABORT_TIMEOUT: "5s",
  INGRESS__DRAIN_TIMEOUT: "1s",
  KAFKA__TOKEN: SIDECAR_TOKEN,
  LOG_LEVEL: "debug",
  // It would outlive a crash of its server, and keep its output open.
  KAFKA__SIDECAR: "off",
};

/** A server as a stranger runs it: a process with a folder and two ports that outlive restarts. */
export class Server {
  readonly folder: string;
  readonly ingress: string;
  readonly admin: string;
  readonly #command: readonly [string, ...string[]];
  readonly #env: NodeJS.ProcessEnv;
  #child: Child | undefined;
  #earlier = "";

  constructor(options: ServerOptions, ports: readonly number[], folder: string) {
    const [ingress, admin] = ports;
    this.folder = folder;
    this.ingress = `http://127.0.0.1:${ingress}`;
    this.admin = `http://127.0.0.1:${admin}`;
    const { runtime, without } = options;
    const [file, ...args] = runtime === "node" ? [process.execPath, nodeEntry()] : denoCommand();
    this.#command = [file, ...args.filter((word) => !without?.test(word))];
    const settings = {
      ...QUICK,
      BASE_DIR: folder,
      INGRESS__BIND_PORT: String(ingress),
      ADMIN__BIND_PORT: String(admin),
      ...options.settings,
    };
    const set = Object.entries(settings).map(([name, value]) => [`SVC_${name}`, value]);
    this.#env = { ...Object.fromEntries(set), ...options.env };
  }

  /** Starts the process on its folder and ports, and waits until it is healthy. */
  async start(): Promise<void> {
    this.#earlier = this.logs();
    const child = this.#child = new Child(this.#command, this.#env);
    await until(`the server to be healthy: ${child.output()}`, async () => {
      if (!child.isAlive()) throw new Error(`The server ended: ${child.output()}`);
      return await fetch(`${this.admin}/health`).then((answer) => answer.ok, () => false);
    }, 20_000).catch((cause) => {
      throw new Error(`${cause.message}\n${child.output()}`);
    });
  }

  /** Starts a further process like this one, and answers how it ended and what it printed. */
  async rival(
    settings: Readonly<Record<string, string>> = {},
  ): Promise<{ end: unknown; output: string }> {
    const own = Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [`SVC_${name}`, value]),
    );
    const child = new Child(this.#command, { ...this.#env, ...own });
    const end = await child.ended();
    return { end, output: child.output() };
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.signal(signal);
  }

  /** Ends the process: `SIGKILL` like a crash, `SIGTERM` in order. Answers how it ended. */
  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<number | NodeJS.Signals | undefined> {
    return await this.#child?.stop(signal);
  }

  /** A crash and a new process on the same folder and ports. */
  async crash(): Promise<void> {
    await this.stop("SIGKILL");
    await this.start();
  }

  /** What all its processes printed. */
  logs(): string {
    return this.#earlier + (this.#child?.output() ?? "");
  }

  /** What its current process printed. */
  said(): string {
    return this.#child?.output() ?? "";
  }

  /** Of its current process. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  isAlive(): boolean {
    return this.#child?.isAlive() ?? false;
  }

  /** Ends the process and forgets the folder. */
  async close(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A server on free ports and a folder of its own, running. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const folder = mkdtempSync(path.join(tmpdir(), "perdure-"));
  const server = new Server(options, await freePorts(2), folder);
  await server.start();
  return server;
}
