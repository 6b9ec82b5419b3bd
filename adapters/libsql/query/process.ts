import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { assert } from "../../../src/assert.ts";
import { Failure } from "../../../src/errors.ts";
import { failed, tooMuchMemory, tooSlow } from "../../../src/introspection/refusal.ts";
import type { Log } from "../../../src/ports.ts";
import type { Query } from "../../../src/query_port.ts";
import { forbidden, queryCommand } from "./command.ts";
import { encodeFrame, type Frame, FrameReader } from "./frames.ts";
import type { Ask, QueryData, QueryResponse, Report } from "./messages.ts";
import { afterRunning } from "../../platform/running_time.ts";

export interface ProcessOptions extends QueryData {
  readonly log: Log;
  /** The built `libsql_query_child`, when it is not beside this module. */
  readonly program?: URL;
}

/** An answer that is not a refusal. */
export type QuerySuccess = Exclude<QueryResponse, { readonly kind: "failed" }>;

/** How long a process may take until it is ready. */
const START_MS = 30_000;
/** How often memory is compared with its limit. */
const WATCH_MS = 50;
/** What a process needs besides what a query may take. */
const HEAP_BYTES = 64 * 1024 ** 2;
/** Of what a process writes to standard error, so much is logged when it ends unexpectedly. */
const STDERR_MAX = 2000;

const UNREADABLE = "A stored row is damaged and cannot be read";

interface Waiter {
  readonly resolve: (answer: QuerySuccess) => void;
  readonly reject: (cause: Failure) => void;
  /** Stops looking at limits. */
  readonly disarmLimits: () => void;
  readonly warn: Query["warn"];
}

interface AskOptions {
  readonly timeMs: number;
  /** Is called when there is no answer by then. */
  readonly onTimeout: () => void;
  readonly warn?: Query["warn"];
}

/**
 * A query process as the server sees it: asked one thing at a time, and killed when a limit is reached,
 * when nobody waits for its answer any more, and at the end. It has a session of its own, so that no
 * signal of the terminal reaches it, and ends by itself when the server does.
 */
export class QueryProcess {
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>;
  /** Resolves when it can be asked. Rejects with `Failure` 503 when it cannot be started. */
  readonly ready: Promise<unknown>;
  readonly #options: ProcessOptions;
  readonly #frames = new FrameReader();
  #child: ChildProcessWithoutNullStreams | undefined;
  #waiter: Waiter | undefined;
  #residentBytes = 0;
  #stderr = "";
  #isReady = false;
  /** Why it cannot be asked any more. */
  #over: Failure | undefined;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#child = this.#start(resolve);
    });
    this.ready = this.#open();
    // A process that no query takes must not end the server by an unhandled rejection.
    this.ready.catch(() => {});
  }

  /** It was ready once. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** It cannot be asked any more. */
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

  /** Ends it at once, whatever it does. A pending answer rejects with `why`. */
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

  /** Starts it. `ended`: is called when it is gone, and when it cannot be started. */
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
      return spawn(file, args, { env, detached: true, stdio: "pipe" });
    } catch (cause) {
      // Most of what can go wrong is an event; some errors of the system are thrown.
      return void this.#cannotStart(String(cause));
    }
  }

  /** Nobody killed it, unless `#over` says so. */
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

  /** Kills it when it grows too much. Returns how to stop that. */
  #watchMemory(): () => void {
    const { limits: { memoryBytesMax } } = this.#options;
    const before = this.#residentBytes;
    const timer = setInterval(() => {
      const bytes = residentBytesOf(this.#child?.pid) ?? this.#residentBytes;
      // It says so itself when it is ready, and before each query.
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

/** Beside this module: TypeScript as Deno runs it, or what the build made of it. */
function programBeside(module: string): URL {
  const name = module.endsWith(".ts") ? "./child.ts" : "./libsql_query_child.mjs";
  return new URL(name, module);
}
