import { createRequire } from "node:module";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Child, freePorts, until } from "../support/child.ts";
import { type Server, SIDECAR_TOKEN } from "../support/server.ts";
import { bundled, compatibilityDate } from "./_build.ts";

/** Settings that make tests quick: everything that waits by design waits less. */
const QUICK = {
  DEFAULT_RETRY_POLICY__INITIAL_INTERVAL: "20ms",
  DEFAULT_RETRY_POLICY__MAX_INTERVAL: "200ms",
  WORKER__INVOKER__INACTIVITY_TIMEOUT: "300ms",
  WORKER__INVOKER__ABORT_TIMEOUT: "5s",
  KAFKA__TOKEN: SIDECAR_TOKEN,
  LOG_LEVEL: "debug",
};

export interface WorkerdOptions {
  /** Settings by environment name without prefix. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Further bindings, by their names. */
  readonly env?: Readonly<Record<string, string>>;
  /** Networks that workerd itself connects to for nobody. */
  readonly deny?: readonly string[];
}

/** The Worker as a process of workerd, with the objects' rows in a folder that outlives it. */
export class WorkerdServer {
  readonly folder: string;
  readonly ingress: string;
  readonly admin: string;
  #child: Child | undefined;
  #earlier = "";

  constructor(
    folder: string,
    ports: readonly number[],
    { settings = {}, env = {}, deny = [] }: WorkerdOptions,
  ) {
    const [ingress = 0, admin = 0] = ports;
    this.folder = folder;
    this.ingress = `http://127.0.0.1:${ingress}`;
    this.admin = `http://127.0.0.1:${admin}`;
    writeFileSync(path.join(folder, "worker.mjs"), bundled("adapters/workerd.ts"));
    const all = Object.entries({ ...QUICK, ...settings });
    const vars = [
      ...all.map(([name, value]) => [`SVC_${name}`, value] as const),
      ...Object.entries(env),
    ];
    const rows = path.join(folder, "rows");
    mkdirSync(rows, { recursive: true });
    writeFileSync(
      path.join(folder, "config.capnp"),
      configOf({ ingress, admin, rows, vars, deny }),
    );
  }

  /** Starts the process and waits until its partition answers. */
  async start(): Promise<void> {
    this.#earlier = this.logs();
    const command = [binary(), "serve", path.join(this.folder, "config.capnp")] as const;
    const child = this.#child = new Child(command);
    await until("workerd to be healthy", async () => {
      if (!child.isAlive()) throw new Error(`workerd ended: ${child.output()}`);
      return await fetch(`${this.admin}/health`).then((answer) => answer.ok, () => false);
    }, 20_000).catch((cause) => {
      throw new Error(`${cause.message}\n${child.output()}`);
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.signal(signal);
  }

  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<number | NodeJS.Signals | undefined> {
    return await this.#child?.stop(signal);
  }

  /** A crash and a new process on the same rows and ports. */
  async crash(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** What all its processes printed. */
  logs(): string {
    return this.#earlier + this.said();
  }

  said(): string {
    return this.#child?.output() ?? "";
  }

  isAlive(): boolean {
    return this.#child?.isAlive() ?? false;
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function startWorkerd(options: WorkerdOptions = {}): Promise<WorkerdServer> {
  const folder = mkdtempSync(path.join(tmpdir(), "perdure-workerd-"));
  const server = new WorkerdServer(folder, await freePorts(2), options);
  await server.start();
  return server;
}

/** For what is written for servers of any kind and asks nothing that only a machine has. */
export function asServer(server: WorkerdServer): Server {
  return server as unknown as Server;
}

function binary(): string {
  const { default: file } = createRequire(import.meta.url)("workerd") as { default: string };
  return file;
}

interface ConfigOptions {
  readonly ingress: number;
  readonly admin: number;
  readonly rows: string;
  readonly vars: readonly (readonly [name: string, value: string])[];
  readonly deny: readonly string[];
}

/** As `wrangler.toml` says, with the admin API on a port of its own as well. */
function configOf({ ingress, admin, rows, vars, deny }: ConfigOptions): string {
  const texts = vars.map(([name, value]) =>
    `(name = ${JSON.stringify(name)}, text = ${JSON.stringify(value)}),`
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "rows", disk = (path = ${JSON.stringify(rows)}, writable = true)),
    (name = "internet", network = (
      allow = ["public", "private", "local"],
      deny = ${JSON.stringify(deny)},
    )),
  ],
  sockets = [
    (name = "ingress", address = "127.0.0.1:${ingress}", http = (), service = "main"),
    (name = "admin", address = "127.0.0.1:${admin}", http = (),
      service = (name = "main", entrypoint = "Admin")),
  ],
);
const main :Workerd.Worker = (
  modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
  compatibilityDate = "${compatibilityDate()}",
  bindings = [
    (name = "PARTITION", durableObjectNamespace = "PartitionObject"),
    ${texts.join("\n    ")}
  ],
  durableObjectNamespaces = [
    (className = "PartitionObject", uniqueKey = "perdure", enableSql = true),
  ],
  durableObjectStorage = (localDisk = "rows"),
);
`;
}
