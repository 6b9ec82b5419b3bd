import { Failure } from "../../../src/errors.ts";
import { type ProcessOptions, QueryProcess } from "./process.ts";

export interface PoolOptions extends ProcessOptions {
  /** Processes at once. */
  readonly processesMax: number;
  /** As `QUIET_MS`, in milliseconds. */
  readonly quietMs?: number;
}

/** An idle process beyond the first is ended after this time, to give its memory back. */
const IDLE_MS = 60_000;
/** So is the last one after this time without a query. The next query then waits for a start. */
const QUIET_MS = 5 * 60_000;
/** A process that keeps more memory than this after a query is replaced. */
const KEPT_BYTES = 256 * 1024 ** 2;

/**
 * Query processes. Each runs one query at a time, so that killing it fails that query and no other. From
 * the first query until none was there for a while there is always an idle one, up to the limit, so that a
 * query does not wait for a start (decision 083).
 */
export class QueryPool {
  readonly #options: PoolOptions;
  readonly #all = new Set<QueryProcess>();
  /** A stack: the process that was used last is used first, so that the others stay idle. */
  #free: QueryProcess[] = [];
  /** Whether the last process that ended had been ready. */
  #canStart = true;
  #idle: ReturnType<typeof setTimeout> | undefined;
  /** Whether a process is kept ready. */
  #isWanted = false;
  #closed: Failure | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Starts a process unless one is free, or the limit is reached. Keeps one ready from now on. */
  prepare(): void {
    this.#isWanted = true;
    this.#endLater();
    this.#fill();
  }

  /** Takes a process that is ready. Rejects with `Failure` 503 when none can be started. */
  async take(): Promise<QueryProcess> {
    if (this.#closed) throw this.#closed;
    // One that was killed is free until the system reports its end.
    this.#free = this.#free.filter(({ isOver }) => !isOver);
    const process = this.#free.pop() ?? this.#start();
    await process.ready;
    // Only now: two that start at once delay each other.
    this.prepare();
    return process;
  }

  /** Takes back a process whose query is over. */
  give(process: QueryProcess): void {
    this.#endLater();
    if (process.isOver) return;
    if (process.residentBytes > KEPT_BYTES) return process.kill(idle());
    this.#free.push(process);
  }

  /** Ends all processes. Resolves when they are gone. */
  async close(why: Failure): Promise<void> {
    this.#closed = why;
    clearTimeout(this.#idle);
    const all = [...this.#all];
    for (const process of all) process.kill(why);
    await Promise.all(all.map(({ ended }) => ended));
  }

  #fill(): void {
    if (this.#closed || !this.#isWanted || this.#free.length > 0) return;
    if (this.#all.size < this.#options.processesMax) this.#free.push(this.#start());
  }

  /** Ends idle processes unless one is used before. */
  #endLater(): void {
    const { quietMs = QUIET_MS } = this.#options;
    const idleMs = Math.min(IDLE_MS, quietMs);
    this.#after(idleMs, () => {
      for (const process of this.#free.slice(0, -1)) process.kill(idle());
      this.#after(quietMs - idleMs, () => this.#endAll());
    });
  }

  #endAll(): void {
    // A query that runs for long gives its process back later.
    if (this.#free.length < this.#all.size) return;
    this.#isWanted = false;
    for (const process of [...this.#free]) process.kill(idle());
  }

  #after(ms: number, act: () => void): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(act, ms);
    this.#idle.unref();
  }

  #start(): QueryProcess {
    const process = new QueryProcess(this.#options);
    this.#all.add(process);
    process.ended.then(() => {
      this.#all.delete(process);
      this.#free = this.#free.filter((one) => one !== process);
      // After a second failed start, the next one waits for a query.
      if (process.isReady || this.#canStart) this.#fill();
      this.#canStart = process.isReady;
    });
    return process;
  }
}

/** The reason for ending an idle process. No query receives it. */
function idle(): Failure {
  return Failure.plain(500, "Cannot run the query: its process was not in use");
}
