import { Worker } from "node:worker_threads";
import { Failure } from "../src/errors.ts";
import type { Clock, Introspection, Log, Query } from "../src/ports.ts";
import type { Answer, Ask, ThreadData } from "./libsql_query_messages.ts";

export interface IntrospectionOptions extends ThreadData {
  /**
   * Resolves when everything that was committed before is in the tables of all databases, whoever owns
   * the partitions in them. When it rejects, or takes longer than a query may, the query fails: 503.
   */
  readonly flush: () => Promise<void>;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  /** Queries at once. */
  readonly queriesMax: number;
  /** Queries that wait for others to end. Beyond it: 429. */
  readonly waitingMax: number;
  /** The built `libsql_query_worker`, when it is not beside this module. */
  readonly worker?: URL;
}

/** How much later than its limit a query may end before its thread is given up. */
const GRACE_MS = 5000;
/** A thread without work ends, and gives its memory back. */
const IDLE_MS = 60_000;
/** JavaScript of the thread: parsing, decoding, printing. */
const HEAP_MB = 512;

interface Waiter {
  readonly resolve: (answer: Exclude<Answer, { kind: "failed" }>) => void;
  readonly reject: (cause: Failure) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/**
 * Queries of libSQL databases, answered by a thread of their own, which is started when there is one.
 * A thread that does not come back in time is left to itself, and a new one started.
 */
export function libsqlIntrospection(options: IntrospectionOptions): Introspection {
  return new LibsqlIntrospection(options);
}

class LibsqlIntrospection implements Introspection {
  readonly #options: IntrospectionOptions;
  readonly #waiters = new Map<number, Waiter>();
  readonly #queue: (() => void)[] = [];
  #worker: Worker | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #id = 0;
  #active = 0;
  #isClosed = false;

  constructor(options: IntrospectionOptions) {
    this.#options = options;
  }

  async query(query: Query): Promise<ReadableStream<Uint8Array>> {
    await this.#enter();
    const id = ++this.#id;
    try {
      await this.#flush();
      if (this.#isClosed) throw closed();
      const request = { ...query, now: this.#options.clock.now() };
      const first = await this.#ask({ id, kind: "query", request });
      return this.#stream(id, first);
    } catch (cause) {
      this.#leave();
      throw cause;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const next of this.#queue.splice(0)) next();
    this.#end(closed());
  }

  async #flush(): Promise<void> {
    const { flush, limits: { timeMs }, log } = this.#options;
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`it took more than ${timeMs} ms`)), timeMs);
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
      clearTimeout(timer);
    }
  }

  /** Waits for a place. Rejects with `Failure` 429 when too many wait. */
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

  #leave(): void {
    this.#active--;
    this.#queue.shift()?.();
    if (this.#active > 0 || this.#isClosed) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#active === 0 && this.#end(closed()), IDLE_MS);
    this.#idle.unref();
  }

  /** The answer whose first part is there. It is asked for more when it is read. */
  #stream(id: number, first: Exclude<Answer, { kind: "failed" }>): ReadableStream<Uint8Array> {
    let pending: Exclude<Answer, { kind: "failed" }> | undefined = first;
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.#leave();
    };
    const cancel = () => {
      if (!isOver) this.#post({ id, kind: "cancel" });
      over();
    };
    // Whoever stops reading must not keep a place for ever.
    let timer = setTimeout(cancel, this.#options.limits.timeMs);
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        if (isOver) {
          return controller.error(
            Failure.plain(500, "Cannot send the answer: it was not read in time"),
          );
        }
        clearTimeout(timer);
        timer = setTimeout(cancel, this.#options.limits.timeMs);
        try {
          const answer = pending ?? await this.#ask({ id, kind: "next" });
          pending = undefined;
          if (answer.kind === "part") return controller.enqueue(answer.bytes);
          over();
          controller.close();
        } catch (cause) {
          over();
          controller.error(cause);
        }
      },
      cancel,
    }, { highWaterMark: 0 });
  }

  #ask(ask: Ask): Promise<Exclude<Answer, { kind: "failed" }>> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#giveUp(), this.#options.limits.timeMs + GRACE_MS);
      this.#waiters.set(ask.id, { resolve, reject, timer });
      this.#post(ask);
    });
  }

  #post(ask: Ask): void {
    // What an earlier thread was asked, no later one knows of.
    if (ask.kind === "query") this.#worker ??= this.#start();
    this.#worker?.postMessage(ask);
  }

  #start(): Worker {
    const { databases, limits, worker: module } = this.#options;
    const data: ThreadData = { databases, limits };
    const worker = new Worker(module ?? workerBeside(import.meta.url), {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    // A server that is done ends, whether or not somebody still asks it something.
    worker.unref();
    worker.on("message", (answer: Answer) => this.#answer(answer));
    worker.on("error", (cause) => {
      if (this.#worker !== worker) return;
      this.#options.log("error", "The query thread failed", { cause: String(cause) });
      this.#end(Failure.plain(500, "Cannot run the query: its thread failed", { cause }));
    });
    return worker;
  }

  #answer(answer: Answer): void {
    const waiter = this.#waiters.get(answer.id);
    this.#waiters.delete(answer.id);
    clearTimeout(waiter?.timer);
    if (answer.kind !== "failed") return waiter?.resolve(answer);
    if (answer.bug !== undefined) {
      this.#options.log("error", "Unexpected error in the query thread", { cause: answer.bug });
    }
    if (answer.cause !== undefined) {
      this.#options.log("warn", "A query cannot read a database", { cause: answer.cause });
    }
    waiter?.reject(Failure.plain(answer.status, answer.message));
  }

  /** The thread is busy with something that cannot be interrupted. */
  #giveUp(): void {
    this.#options.log("error", "The query thread does not answer and is given up");
    this.#end(Failure.plain(500, "Cannot run the query: it could not be stopped in time"));
  }

  #end(failure: Failure): void {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    const waiters = [...this.#waiters.values()];
    this.#waiters.clear();
    for (const { reject, timer } of waiters) {
      clearTimeout(timer);
      reject(failure);
    }
    // Not waited for: it may be within the database, which nobody can end.
    worker?.terminate().catch(() => {});
  }
}

function closed(): Failure {
  return Failure.plain(503, "Cannot run the query: the server is shutting down");
}

/** Beside this module: TypeScript as Deno runs it, or what the build made of it. */
function workerBeside(module: string): URL {
  const name = module.endsWith(".ts") ? "./libsql_query_worker.ts" : "./libsql_query_worker.mjs";
  return new URL(name, module);
}
