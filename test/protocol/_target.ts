import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { nodeEntry } from "../support/build.ts";
import { Child, freePorts, until } from "../support/child.ts";
import { areToolsRequired, fetched } from "../support/fetched.ts";

/** Whose behavior is looked at: ours, or the server whose protocol it is. */
export type TargetKind = "perdure" | "reference";

/** `TARGET=reference` runs the same suite against the reference server. */
export const TARGET: TargetKind = process.env.TARGET === "reference" ? "reference" : "perdure";

/** Settings by path, as both servers name them: `{ "worker.invoker.abort-timeout": "1s" }`. */
export type TargetOptions = Readonly<Record<string, string>>;

/** Quick retries; no other setting differs from what a user gets. */
const QUICK: TargetOptions = {
  "default-retry-policy.initial-interval": "50ms",
  "default-retry-policy.max-interval": "500ms",
  "worker.invoker.drain-timeout": "1s",
};
/** Options of ours that the reference does not know, and ends at. */
const OURS_ONLY = [
  "worker.invoker.drain-timeout",
  "worker.invoker.priority-aging",
  "log-level",
  "kafka.sidecar",
  "storage.databases",
];

const CACHE = process.env.BENCH_CACHE ?? path.join(homedir(), ".cache/durable-bench");
const PROGRAM = "bin/restate-server";
const PACKAGE = "@restatedev/restate-server-linux-x64";
const REFERENCE = process.env.REFERENCE_SERVER ?? await findReference();

/** The reference as benchmarks installed it. Else it is fetched, if tests must not be skipped. */
async function findReference(): Promise<string> {
  const installed = path.join(CACHE, "node_modules", PACKAGE, PROGRAM);
  if (existsSync(installed) || !areToolsRequired) return installed;
  const tests = "Comparisons with the reference";
  const wanted = { package: PACKAGE, version: "1.7.12", file: PROGRAM, tests, isProgram: true };
  return await fetched(wanted) ?? installed;
}

/** Whether the reference can be started here. */
export function hasReference(): boolean {
  return existsSync(REFERENCE);
}

interface Flavor {
  /** The reserved first path segment, and the name inside headers. */
  readonly word: "svc" | "restate";
  readonly command: () => readonly [string, ...string[]];
  readonly env: (ports: readonly number[], folder: string) => Readonly<Record<string, string>>;
}

const FLAVORS: Readonly<Record<TargetKind, Flavor>> = {
  perdure: {
    word: "svc",
    command: () => [process.execPath, nodeEntry()],
    env: ([ingress, admin], folder) => ({
      SVC_BASE_DIR: folder,
      SVC_INGRESS__BIND_PORT: String(ingress),
      SVC_ADMIN__BIND_PORT: String(admin),
      SVC_LOG_LEVEL: "debug",
      // As in `support/server.ts`.
      SVC_KAFKA__SIDECAR: "off",
    }),
  },
  reference: {
    word: "restate",
    command: () => [REFERENCE],
    env: ([ingress, admin, node], folder) => ({
      RESTATE_BASE_DIR: folder,
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_BIND_PORT: String(node),
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_DEFAULT_NUM_PARTITIONS: "2",
      RESTATE_LOG_FILTER: "info,restate_invoker_impl=debug",
    }),
  },
};

/** `worker.invoker.abort-timeout` as a variable: `SVC_WORKER__INVOKER__ABORT_TIMEOUT`. */
function variables(word: string, options: TargetOptions): Record<string, string> {
  const spell = (name: string) => name.replaceAll(".", "__").replaceAll("-", "_").toUpperCase();
  return Object.fromEntries(
    Object.entries(options)
      .filter(([name]) => word === "svc" || !OURS_ONLY.includes(name))
      .map(([name, value]) => [`${word.toUpperCase()}_${spell(name)}`, value]),
  );
}

/** The server under test: a process with a folder and ports that outlive restarts. */
export class Target {
  readonly kind: TargetKind;
  readonly ingress: string;
  readonly admin: string;
  /** `svc` or `restate`: the path prefix and the word in `x-svc-id`, `svc_code`. */
  readonly word: "svc" | "restate";
  readonly folder: string;
  readonly #command: readonly [string, ...string[]];
  readonly #env: Readonly<Record<string, string>>;
  #child: Child | undefined;
  #earlier = "";

  constructor(kind: TargetKind, ports: readonly number[], options: TargetOptions) {
    const flavor = FLAVORS[kind];
    this.kind = kind;
    this.word = flavor.word;
    this.ingress = `http://127.0.0.1:${ports[0]}`;
    this.admin = `http://127.0.0.1:${ports[1]}`;
    this.folder = mkdtempSync(path.join(tmpdir(), `${kind}-`));
    this.#command = flavor.command();
    this.#env = {
      ...flavor.env(ports, this.folder),
      ...variables(flavor.word, { ...QUICK, ...options }),
    };
  }

  /** `x-svc-id` for `id`, spelled as this server spells it when nobody asks otherwise. */
  header(name: string): string {
    return `x-${this.word}-${name}`;
  }

  /** Starts the process and waits until it takes calls. Throws with its output when it ends. */
  async start(): Promise<void> {
    this.#earlier = this.logs();
    const child = this.#child = new Child(this.#command, this.#env);
    const answers = (url: string) => fetch(url).then((answer) => answer.status < 500, () => false);
    await until("the server to be healthy", async () => {
      if (!child.isAlive()) throw new Error("The server ended");
      // A path nobody serves tells that ingress listens, whatever it answers.
      return await answers(`${this.admin}/health`) && await answers(`${this.ingress}/x/y`);
    }, 30_000).catch((cause) => {
      throw new Error(`${cause.message}\n${child.output().slice(-4000)}`);
    });
  }

  /** Ends the process like a crash, or with `SIGTERM` in order. Its data stay. */
  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await this.#child?.stop(signal);
  }

  /** A crash, and a new process on the same folder and ports. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** What all its processes printed. */
  logs(): string {
    return this.#earlier + (this.#child?.output() ?? "");
  }

  isAlive(): boolean {
    return this.#child?.isAlive() ?? false;
  }

  /** Ends the process and forgets its data. */
  async close(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * Starts the server under test on free ports and a folder of its own.
 * Throws when it does not become healthy, or when the reference is wanted and not there.
 */
export async function startTarget(
  options: TargetOptions = {},
  kind: TargetKind = TARGET,
): Promise<Target> {
  if (kind === "reference" && !hasReference()) {
    throw new Error(`No reference server at ${REFERENCE}: set REFERENCE_SERVER`);
  }
  const target = new Target(kind, await freePorts(3), options);
  await target.start();
  return target;
}
