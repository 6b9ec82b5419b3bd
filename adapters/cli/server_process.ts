import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { isDeno } from "../platform/command.ts";
import { END_WITH_INPUT } from "../platform/end_with_input.ts";

export interface ServerOptions {
  /** The command line: settings, such as `["--base-dir", "data"]`. */
  readonly args?: readonly string[];
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where its log goes: to the standard error of this process (default), or nowhere. */
  readonly log?: "inherit" | "ignore";
}

export interface RunningServer {
  /** Addresses for callers and for operators, such as `http://127.0.0.1:8080`. */
  readonly ingress: string;
  readonly admin: string;
  /** Where its data is. */
  readonly data: string;
  /** Resolves with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Stops it in order. Resolves when it has ended. */
  stop(): Promise<void>;
}

/** What a server prints when it is ready. */
const READY = /^perdure \S+ is ready: ingress (\S+), admin (\S+), data (.+)$/;

/**
 * Starts a server as a process of its own, by the runtime of this process. It ends with this process.
 * Resolves when it is ready; rejects with `Error` when it ends before, whose reason is in its log.
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const child = spawn(process.execPath, commandLine(options.args ?? []), {
    env: { ...process.env, ...options.env, [END_WITH_INPUT]: "1" },
    stdio: ["pipe", "pipe", options.log ?? "inherit"],
    // A signal of the terminal reaches this process alone, which stops the server in order.
    detached: true,
    // There a process of its own would get a window of its own.
    windowsHide: true,
  });
  child.stdin?.on("error", () => {});
  const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? signal ?? 1));
  });
  const [ingress, admin, data] = await Promise.race([ready(child), endedEarly(ended)]);
  const stop = async () => {
    child.stdin?.end();
    await ended;
  };
  return { ingress, admin, data, ended, stop };
}

/** The arguments of the runtime: this program again, as `perdure serve`. */
export function commandLine(args: readonly string[]): string[] {
  const { url } = import.meta;
  const program = new URL(url.endsWith(".ts") ? "../main.ts" : "./perdure.mjs", url);
  const runtime = isDeno() ? ["run", "--allow-all", "--unstable-no-legacy-abort"] : [];
  return [...runtime, fileURLToPath(program), "serve", ...args];
}

function ready(child: ChildProcess): Promise<readonly [string, string, string]> {
  return new Promise((resolve) => {
    if (!child.stdout) return;
    // The lines are read to the end, so that the pipe never fills.
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [, ingress, admin, data] = READY.exec(line) ?? [];
      if (ingress !== undefined && admin !== undefined) resolve([ingress, admin, data ?? ""]);
    });
  });
}

async function endedEarly(ended: Promise<number | NodeJS.Signals>): Promise<never> {
  throw new Error(`Cannot start the server: it ended with ${await ended}; its log says why`);
}
