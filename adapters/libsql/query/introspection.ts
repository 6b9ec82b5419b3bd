import { Failure } from "../../../src/errors.ts";
import type { Clock } from "../../../src/ports.ts";
import type { Introspection, Query } from "../../../src/query_port.ts";
import { type PoolOptions, QueryPool } from "./pool.ts";
import type { QueryProcess, QuerySuccess } from "./process.ts";
import { afterRunning } from "../../platform/running_time.ts";

export interface IntrospectionOptions extends Omit<PoolOptions, "processesMax"> {
  /**
   * Resolves when all earlier commits are folded into the tables of all databases, also those of
   * partitions that other processes own. When it rejects, or takes longer than a query may, the query
   * fails with 503.
   */
  readonly flush: () => Promise<void>;
  readonly clock: Pick<Clock, "now">;
  /** Queries at once. */
  readonly queriesMax: number;
  /** Queries that wait for others to end. Beyond it: 429. */
  readonly waitingMax: number;
}

/**
 * Queries of libSQL databases, which run in processes of their own. A step of the database cannot be
 * interrupted, and its thread cannot be terminated safely, but the system can end a process at any
 * time (decision 040).
 */
export function libsqlIntrospection(options: IntrospectionOptions): Introspection {
  return new LibsqlIntrospection(options);
}

class LibsqlIntrospection implements Introspection {
  readonly #options: IntrospectionOptions;
  readonly #pool: QueryPool;
  readonly #queue: (() => void)[] = [];
  #active = 0;
  #isClosed = false;

  constructor(options: IntrospectionOptions) {
    this.#options = options;
    this.#pool = new QueryPool({ ...options, processesMax: options.queriesMax });
  }

  prepare(): void {
    this.#pool.prepare();
  }

  async query(query: Query): Promise<ReadableStream<Uint8Array>> {
    await this.#enter();
    let process: QueryProcess | undefined;
    try {
      await this.#flush();
      process = await this.#pool.take();
      const { warn, ...rest } = query;
      const request = { ...rest, now: this.#options.clock.now() };
      const first = await process.query({ kind: "query", request }, warn);
      return this.#stream(process, first);
    } catch (cause) {
      this.#leave(process);
      throw cause;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const next of this.#queue.splice(0)) next();
    await this.#pool.close(closed());
  }

  async #flush(): Promise<void> {
    const { flush, limits: { timeMs }, log } = this.#options;
    let disarm = () => {};
    try {
      const late = new Promise<never>((_, reject) => {
        disarm = afterRunning(timeMs, () => reject(new Error(`it took more than ${timeMs} ms`)));
      });
      await Promise.race([flush(), late]);
    } catch (cause) {
      log("warn", "A query cannot see what was just committed", { cause: String(cause) });
      throw Failure.plain(
        503,
        "Cannot run the query: what was just committed cannot be brought into the tables",
        { cause },
      );
    } finally {
      disarm();
    }
  }

  /** Waits until one more query may run. Rejects with `Failure` 429 when too many wait. */
  async #enter(): Promise<void> {
    const { queriesMax, waitingMax } = this.#options;
    if (this.#isClosed) throw closed();
    if (this.#active >= queriesMax) {
      if (this.#queue.length >= waitingMax) {
        throw Failure.plain(429, "Cannot run the query: too many others are waiting");
      }
      await new Promise<void>((resolve) => this.#queue.push(resolve));
      if (this.#isClosed) throw closed();
    }
    this.#active++;
  }

  #leave(process: QueryProcess | undefined): void {
    if (process) this.#pool.give(process);
    this.#active--;
    this.#queue.shift()?.();
  }

  /** The result, whose first part has arrived. Further parts are requested when it is read. */
  #stream(process: QueryProcess, first: QuerySuccess): ReadableStream<Uint8Array> {
    const { limits: { timeMs } } = this.#options;
    let pending: QuerySuccess | undefined = first;
    let isOver = false;
    const over = () => {
      disarm();
      if (!isOver) this.#leave(process);
      isOver = true;
    };
    const cancel = (why: string) => {
      process.kill(Failure.plain(500, `Cannot send the answer: ${why}`));
      over();
    };
    // A reader that stops must not keep a process for ever.
    const arm = () => afterRunning(timeMs, () => cancel("it was not read in time"));
    let disarm = arm();
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        disarm();
        try {
          const answer = pending ?? await process.query({ kind: "next" });
          pending = undefined;
          if (answer.kind === "part") {
            disarm = arm();
            return controller.enqueue(answer.bytes);
          }
          over();
          controller.close();
        } catch (cause) {
          over();
          controller.error(cause);
        }
      },
      cancel: () => cancel("its reader left"),
    }, { highWaterMark: 0 });
  }
}

function closed(): Failure {
  return Failure.plain(503, "Cannot run the query: the server is shutting down");
}
