import { Failure } from "../../../src/errors.ts";
import { type ProcessOptions, QueryProcess } from "./process.ts";

export interface PoolOptions extends ProcessOptions {
  /** Processes at once. */
  readonly processesMax: number;
}

/** An idle process beyond the first ends after this time, and gives its memory back. */
const IDLE_MS = 60_000;
/** A process that keeps more memory than this after a query is replaced. */
const KEPT_BYTES = 256 * 1024 ** 2;

/**
 * Query processes. Each answers one query at a time, so that killing it fails that query and no other.
 * One more than is in use is started ahead, up to the limit, so that a query need not wait for a start.
 */
export class QueryPool {
  readonly #options: PoolOptions;
  readonly #all = new Set<QueryProcess>();
  /** Those that were used last come last, and are used first. */
  #free: QueryProcess[] = [];
  /** The latest start that came to an end was successful. */
  #canStart = true;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #closed: Failure | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Starts a process unless one is free, or there are as many as there may be. */
  prepare(): void {
    if (this.#closed || this.#free.length > 0) return;
    if (this.#all.size < this.#options.processesMax) this.#free.push(this.#start());
  }

  /** A process that can be asked. Rejects with `Failure` 503 when none can be started. */
  async take(): Promise<QueryProcess> {
    if (this.#closed) throw this.#closed;
    const process = this.#free.pop() ?? this.#start();
    this.prepare();
    await process.ready;
    return process;
  }

  /** Takes back a process that nobody asks any more. */
  give(process: QueryProcess): void {
    if (process.isOver) return;
    if (process.residentBytes > KEPT_BYTES) return process.kill(idle());
    this.#free.push(process);
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#trim(), IDLE_MS);
    this.#idle.unref();
  }

  /** Ends all processes. Resolves when they are gone. */
  async close(why: Failure): Promise<void> {
    this.#closed = why;
    clearTimeout(this.#idle);
    const all = [...this.#all];
    for (const process of all) process.kill(why);
    await Promise.all(all.map(({ ended }) => ended));
  }

  #trim(): void {
    for (const process of this.#free.slice(0, -1)) process.kill(idle());
  }

  #start(): QueryProcess {
    const process = new QueryProcess(this.#options);
    this.#all.add(process);
    process.ended.then(() => {
      this.#all.delete(process);
      this.#free = this.#free.filter((one) => one !== process);
      // After a second start that failed, the next one waits for a query.
      if (process.isReady || this.#canStart) this.prepare();
      this.#canStart = process.isReady;
    });
    return process;
  }
}

/** Nobody hears it: nobody asks a process that is not in use. */
function idle(): Failure {
  return Failure.plain(500, "Cannot run the query: its process was not in use");
}
