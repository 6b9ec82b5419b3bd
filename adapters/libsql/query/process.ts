import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { assert } from "../../../src/assert.ts";
import { Failure } from "../../../src/errors.ts";
import { failed, tooMuchMemory, tooSlow } from "../../../src/introspection/refusal.ts";
import type { Log } from "../../../src/ports.ts";
import type { Query } from "../../../src/query_port.ts";
import { forbidden } from "../../platform/command.ts";
import { queryCommand } from "./command.ts";
import { encodeFrame, type Frame, FrameReader } from "./frames.ts";
import type { Ask, QueryData, QueryResponse, Report } from "./messages.ts";
import { afterRunning } from "../../platform/running_time.ts";

export interface ProcessOptions extends QueryData {
  readonly log: Log;
  /** The built `libsql_query_child`, when it is not beside this module. */
  readonly program?: URL;
}

/** A response that is not a failure. */
export type QuerySuccess = Exclude<QueryResponse, { readonly kind: "failed" }>;

/** How long a process may take until it is ready. */
const START_MS = 30_000;
/** How often memory is compared with its limit. */
const WATCH_MS = 50;
/** Heap of a process beside the memory of its query. */
const HEAP_BYTES = 64 * 1024 ** 2;
/** Characters of standard error that are logged when a process ends unexpectedly. */
const STDERR_MAX = 2000;

const UNREADABLE = "A stored row is damaged and cannot be read";

interface Waiter {
  readonly resolve: (answer: QuerySuccess) => void;
  readonly reject: (cause: Failure) => void;
  /** Stops the checks of time and memory. */
  readonly disarmLimits: () => void;
  readonly warn: Query["warn"];
}

interface AskOptions {
  readonly timeMs: number;
  /** Is called when there is no response by then. */
  readonly onTimeout: () => void;
  readonly warn?: Query["warn"];
}

/**
 * A query process as the server sees it. It is sent one request at a time, and killed when a limit is
 * reached, when its result is no longer needed, and when the server stops. It has a session of its own,
 * so that no signal of the terminal reaches it, and ends by itself when the server does.
 */
export class QueryProcess {
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>;
  /** Resolves when it takes requests. Rejects with `Failure` 503 when it cannot be started. */
  readonly ready: Promise<unknown>;
  readonly #options: ProcessOptions;
  readonly #frames = new FrameReader();
  #child: ChildProcessWithoutNullStreams | undefined;
  #waiter: Waiter | undefined;
  #residentBytes = 0;
  #stderr = "";
  #isReady = false;
  /** Why it takes no more requests. */
  #over: Failure | undefined;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#child = this.#start(resolve);
    });
    this.ready = this.#open();
    // Handled here, too: the rejection of a process that no query uses would end the server.
    this.ready.catch(() => {});
  }

  /** Whether it became ready. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether it takes no more requests. */
  get isOver(): boolean {
    return this.#over !== undefined;
  }

  /** Memory of the process when it last reported. */
  get residentBytes(): number {
    return this.#residentBytes;
  }

  /** Rejects with a `Failure`: of the statement, of a limit, or because the process ended. */
  async query(
    ask: Exclude<Ask, { readonly kind: "open" }>,
    warn?: Query["warn"],
  ): Promise<QuerySuccess> {
    const { timeMs } = this.#options.limits;
    return await this.#ask(ask, { timeMs, onTimeout: () => this.kill(tooSlow(timeMs)), warn });
  }

  /** Ends it at once. The pending request rejects with `why`. */
  kill(why: Failure): void {
    this.#over ??= why;
    this.#child?.kill("SIGKILL");
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.disarmLimits();
    waiter?.reject(this.#over);
  }

  async #open(): Promise<void> {
    const { databases, limits } = this.#options;
    const onTimeout = () => this.#cannotStart(`it was not ready within ${START_MS} ms`);
    await this.#ask({ kind: "open", data: { databases, limits } }, { timeMs: START_MS, onTimeout });
    this.#isReady = true;
  }

  #cannotStart(why: string): void {
    this.#options.log("warn", "Cannot start a query process", { cause: why });
    this.kill(cannotStart(why));
  }

  /** Starts it. `ended`: is called when it has ended, and when it cannot be started. */
  #start(ended: () => void): ChildProcessWithoutNullStreams | undefined {
    const child = this.#spawn();
    if (!child) return void ended();
    child.unref();
    child.on("error", (cause) => {
      this.#cannotStart(cause.message);
      ended();
    });
    child.on("exit", (code, signal) => {
      this.#hasEnded(signal ?? `code ${code}`);
      ended();
    });
    // A program that cannot be started has no pipes on Deno.
    child.stdin?.on("error", () => {});
    child.stdout?.on("data", (piece: Uint8Array) => this.#receive(piece));
    child.stderr?.on(
      "data",
      (piece) => this.#stderr = `${this.#stderr}${piece}`.slice(-STDERR_MAX),
    );
    return child;
  }

  #spawn(): ChildProcessWithoutNullStreams | undefined {
    const { databases, limits, program = programBeside(import.meta.url) } = this.#options;
    const heapBytesMax = HEAP_BYTES + limits.memoryBytesMax;
    const { file, args, env } = queryCommand(program, { databases, heapBytesMax });
    const why = forbidden(file);
    if (why !== undefined) return void this.#cannotStart(why);
    try {
      return spawn(file, args, { env, detached: true, windowsHide: true, stdio: "pipe" });
    } catch (cause) {
      // Most errors are events; some errors of the system are thrown.
      return void this.#cannotStart(String(cause));
    }
  }

  /** Reports an end that was unexpected: one without `kill`. */
  #hasEnded(how: string): void {
    if (this.#over) return;
    if (!this.#isReady) return this.#cannotStart(`it ended with ${how}: ${this.#stderr.trim()}`);
    this.#options.log("error", "A query process ended unexpectedly", { how, said: this.#stderr });
    this.kill(
      failed(`Cannot run the query: its process ended unexpectedly (${how}); run it again`),
    );
  }

  async #ask(ask: Ask, { timeMs, onTimeout, warn }: AskOptions): Promise<QuerySuccess> {
    if (this.#over) throw this.#over;
    assert(!this.#waiter, "A query process is asked one thing at a time");
    return await new Promise((resolve, reject) => {
      const disarm = afterRunning(timeMs, onTimeout);
      const unwatch = this.#watchMemory();
      const disarmLimits = () => (disarm(), unwatch());
      this.#waiter = { resolve, reject, disarmLimits, warn };
      for (const piece of encodeFrame({ kind: "json", value: ask })) {
        this.#child?.stdin.write(piece);
      }
    });
  }

  /** Kills it when its memory grows too much. Returns a function that stops the checks. */
  #watchMemory(): () => void {
    const { limits: { memoryBytesMax } } = this.#options;
    const before = this.#residentBytes;
    const timer = setInterval(() => {
      const bytes = residentBytesOf(this.#child?.pid) ?? this.#residentBytes;
      // The process reports its memory when it is ready, and after each query.
      if (before > 0 && bytes - before > memoryBytesMax) this.kill(tooMuchMemory(memoryBytesMax));
    }, WATCH_MS);
    return () => clearInterval(timer);
  }

  #receive(piece: Uint8Array): void {
    for (const frame of this.#frames.read(piece)) {
      const message = messageOf(frame);
      if (message.kind === "report") this.#residentBytes = message.residentBytes;
      else if (message.kind === "unreadable") {
        this.#options.log("error", UNREADABLE, { ...message.row });
      } else if (message.kind === "warning") this.#waiter?.warn?.(message.text);
      else this.#answer(message);
    }
  }

  #answer(answer: QueryResponse): void {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.disarmLimits();
    if (answer.kind !== "failed") return waiter?.resolve(answer);
    const { log } = this.#options;
    const { status, message, bug, cause } = answer;
    if (bug !== undefined) log("error", "Unexpected error in a query process", { cause: bug });
    if (cause !== undefined) log("warn", "A query cannot read a database", { cause });
    waiter?.reject(Failure.plain(status, message));
  }
}

function messageOf(frame: Frame): QueryResponse | Report {
  return frame.kind === "bytes"
    ? { kind: "part", bytes: frame.bytes }
    : frame.value as QueryResponse | Report;
}

/** Memory of another process. Undefined where the system does not tell. */
function residentBytesOf(pid: number | undefined): number | undefined {
  try {
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kib === undefined ? undefined : Number(kib) * 1024;
  } catch {
    return undefined;
  }
}

function cannotStart(why: string): Failure {
  return Failure.plain(
    503,
    `Cannot run the query: the process that answers queries cannot be started: ${why}; allow the ` +
      `server to start processes (on Deno: --allow-run)`,
  );
}

/** The program beside this module: as TypeScript, which Deno runs, or as the build made it. */
function programBeside(module: string): URL {
  const name = module.endsWith(".ts") ? "./child.ts" : "./libsql_query_child.mjs";
  return new URL(name, module);
}
