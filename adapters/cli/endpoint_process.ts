import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeno, isExecutable } from "../platform/command.ts";
import { endTree, hasGroups } from "../platform/process_tree.ts";
import { usageFailure } from "./failure.ts";

const START_MS = 30_000;
const POLL_MS = 25;
/** Time to end by itself. Then it is killed: what it was doing is done again by the next one. */
const STOP_MS = 3_000;
/** The first that can run TypeScript, and the first that does so unasked. */
const TYPES_BY_FLAG = [22, 6];
const TYPES = [22, 18];

/** The process of the user's endpoint, again and again. */
export class Endpoint {
  readonly url: string;
  /** Called when it ends by itself, with its exit code or signal. */
  onEnd: (how: string) => void = () => {};
  readonly #port: number;
  readonly #command: readonly string[];
  #child: ChildProcess | undefined;

  /**
   * `runtime`: `node` or `deno`; undefined: what runs this process. Throws `CommandFailure` when the file
   * is not there, and when the runtime cannot run it.
   */
  constructor(
    file: string,
    { port, runtime }: { readonly port: number; readonly runtime: string | undefined },
  ) {
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
    if (!existsSync(file)) throw usageFailure(`Cannot run "${file}": there is no such file`, "dev");
    this.#command = commandOf(file, runtime ?? (isDeno() ? "deno" : "node"));
    process.once("exit", () => {
      if (this.#child?.pid) endTree(this.#child.pid, "SIGKILL");
    });
  }

  /** Starts it. Resolves when it listens; rejects with `Error` when it does not. */
  async start(): Promise<void> {
    const [program = "", ...args] = this.#command;
    const child = this.#child = spawn(program, args, {
      env: { ...process.env, PORT: String(this.#port) },
      stdio: ["ignore", "inherit", "inherit"],
      // A group of its own: the program may be a wrapper, as the `deno` of npm, which passes no signal on.
      detached: hasGroups(),
    });
    let isOver: string | undefined;
    child.once("error", (cause) => void (isOver = cause.message));
    child.once("exit", (code, signal) => {
      isOver = String(signal ?? code);
      if (this.#child === child) this.onEnd(isOver);
    });
    const deadline = Date.now() + START_MS;
    while (!await isTaken(this.#port)) {
      // Its end was reported.
      if (isOver !== undefined) {
        throw new Error(`Cannot register the endpoint: it ended (${isOver})`);
      }
      if (Date.now() > deadline) {
        throw new Error(
          `Cannot register the endpoint: nothing listens on port ${this.#port} after ` +
            `${START_MS / 1000} s. If it listens elsewhere, say where with --port`,
        );
      }
      await sleep(POLL_MS);
    }
  }

  /** Ends it. Resolves when it is gone. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null || !child.pid) return;
    const { pid } = child;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    endTree(pid, "SIGTERM");
    const timer = setTimeout(() => endTree(pid, "SIGKILL"), STOP_MS);
    await gone;
    clearTimeout(timer);
  }
}

/** Whether something listens on a port of this machine. */
export function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const done = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => done(true)).once("error", () => done(false));
  });
}

function commandOf(file: string, runtime: string): readonly string[] {
  if (runtime === "deno") {
    return [isDeno() ? process.execPath : "deno", "run", "--allow-all", file];
  }
  if (runtime !== "node") {
    throw usageFailure(`Cannot read --runtime: "${runtime}" is not node or deno`, "dev");
  }
  // Deno says the version of Node that it is compatible with, which is not that of the other program; the
  // executable runs no other program than its own.
  if (isDeno() || isExecutable()) return ["node", file];
  return [process.execPath, ...typesFlag(file), file];
}

function typesFlag(file: string): readonly string[] {
  if (!/\.[mc]?ts$/.test(file) || isFrom(TYPES)) return [];
  if (isFrom(TYPES_BY_FLAG)) return ["--experimental-strip-types"];
  throw usageFailure(
    `Cannot run "${file}": Node ${process.versions.node} does not run TypeScript. Use Node ` +
      `${TYPES.join(".")} or later, "--runtime deno", or the JavaScript that is built of it`,
    "dev",
  );
}

function isFrom([major = 0, minor = 0]: readonly number[]): boolean {
  const [ownMajor = 0, ownMinor = 0] = process.versions.node.split(".").map(Number);
  return ownMajor > major || ownMajor === major && ownMinor >= minor;
}
