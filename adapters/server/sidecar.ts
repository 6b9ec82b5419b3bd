import { type ChildProcess, spawn } from "node:child_process";
import type { Log, Stopwatch } from "../../src/ports.ts";
import type { Command } from "../platform/command.ts";

export interface SidecarOptions {
  /** How it is started. */
  readonly command: () => Command;
  /** Why it may not be started. Undefined: it may. */
  readonly forbidden: (file: string) => string | undefined;
  readonly log: Log;
  readonly stopwatch: Stopwatch;
  /** Whether there is a Kafka cluster, so that it has something to do. */
  readonly isWanted: () => boolean;
  /** Whether one is at work: maybe that of an earlier process, or one that somebody else has started. */
  readonly isServed: () => boolean;
}

/**
 * How long a sidecar of an earlier process has to ask for the plan, after this process has begun: it tries
 * at least once a second while it finds no server.
 */
const ADOPT_MS = 1_500;
/** How often it is checked that one is at work, while none was started here. */
const CHECK_MS = 5_000;
/** The delays before it is started again. */
const RESTART_MS = 500;
const RESTART_MAX_MS = 30_000;
/** After so long it is taken for one that works, and its next restart is quick again. */
const STEADY_MS = 60_000;
/** How long it may take to commit and to leave its groups, before it is killed. */
const STOP_MS = 5_000;

/**
 * Starts the Kafka sidecar when there is a cluster, and again when it ends. A sidecar outlives the crash
 * of its server, to keep its place in the consumer groups; the next server finds it at work.
 */
export class Sidecar {
  readonly #options: SidecarOptions;
  #child: ChildProcess | undefined;
  #cancel: (() => void) | undefined;
  #restarts = 0;
  #isClosed = false;
  #isForbidden = false;

  constructor(options: SidecarOptions) {
    this.#options = options;
    if (options.isWanted()) this.#later(ADOPT_MS);
  }

  /** Process id of the one that was started here, while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Clusters have been added or removed. */
  changed(): void {
    if (!this.#options.isWanted()) this.#stop();
    else if (!this.#child && !this.#cancel) this.#ensure();
  }

  /** Ends the one that was started here, and resolves when it is gone. None is started any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    await this.#stop();
  }

  #later(ms: number): void {
    if (this.#isClosed) return;
    this.#cancel = this.#options.stopwatch.after(ms, () => {
      this.#cancel = undefined;
      this.#ensure();
    });
  }

  #ensure(): void {
    const { isWanted, isServed } = this.#options;
    if (this.#child || this.#isClosed || !isWanted()) return;
    if (isServed()) return this.#later(CHECK_MS);
    this.#start();
  }

  #start(): void {
    const { command, forbidden, log, stopwatch } = this.#options;
    const { file, args, env } = command();
    const why = forbidden(file);
    if (why !== undefined) {
      if (!this.#isForbidden) log("warn", "Cannot start the Kafka sidecar", { cause: why });
      this.#isForbidden = true;
      return;
    }
    const began = stopwatch.now();
    const child = this.#child = spawn(file, args, {
      env,
      stdio: ["ignore", "inherit", "inherit"],
      windowsHide: true,
    });
    const ended = (cause: string) => {
      if (this.#child !== child) return;
      this.#child = undefined;
      if (stopwatch.now() - began > STEADY_MS) this.#restarts = 0;
      const delayMs = Math.min(RESTART_MAX_MS, RESTART_MS * 2 ** this.#restarts++);
      log("error", "The Kafka sidecar has ended and is started again", { cause, delayMs });
      this.#later(delayMs);
    };
    child.once("error", (cause) => ended(cause.message));
    child.once("exit", (code, signal) => ended(signal ?? `exit code ${code}`));
    log("info", "The Kafka sidecar is started", { pid: child.pid });
  }

  /** Has it leave its groups. Resolves when it is gone. */
  async #stop(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    this.#child = undefined;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    if (child.exitCode !== null || child.signalCode !== null) return;
    const cancel = this.#options.stopwatch.after(STOP_MS, () => child.kill("SIGKILL"));
    child.kill("SIGTERM");
    await gone;
    cancel();
  }
}
