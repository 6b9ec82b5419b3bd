import { Failure } from "../../src/errors.ts";
import type { Bound } from "../../src/introspection/database.ts";
import type { DirectDatabase } from "../../src/introspection/direct/direct_database.ts";
import { runDirect } from "../../src/introspection/direct/run_direct.ts";
import { failed, tooSlow } from "../../src/introspection/refusal.ts";
import type { Row } from "../../src/introspection/render/format.ts";
import type { QueryLimits } from "../../src/introspection/request.ts";
import type { Clock, Log, SqlValue } from "../../src/ports.ts";
import type { Introspection, Query } from "../../src/query_port.ts";

/** The used part of a Durable Object's storage. */
export interface QueryStorage {
  readonly sql: {
    exec(text: string, ...values: SqlValue[]): {
      raw(): IterableIterator<(string | number | null | ArrayBuffer)[]>;
    };
  };
  transactionSync<T>(act: () => T): T;
}

export interface DurableIntrospectionOptions {
  /** Resolves when all commits are folded into the tables. */
  readonly flush: () => Promise<void>;
  readonly clock: Pick<Clock, "now">;
  readonly limits: Pick<QueryLimits, "rowsMax" | "timeMs" | "spoolBytesMax">;
  readonly log: Log;
  /** Queries that wait for others to end. Beyond it: 429. */
  readonly waitingMax: number;
}

/**
 * Queries of the database of a Durable Object, one at a time, in the thread of the object: it has no
 * other. A result is complete, in memory, before its first part is sent.
 */
export function durableIntrospection(
  storage: QueryStorage,
  options: DurableIntrospectionOptions,
): Introspection {
  return new DurableIntrospection(storage, options);
}

class DurableIntrospection implements Introspection {
  readonly #storage: QueryStorage;
  readonly #options: DurableIntrospectionOptions;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(storage: QueryStorage, options: DurableIntrospectionOptions) {
    this.#storage = storage;
    this.#options = options;
  }

  async query(query: Query): Promise<ReadableStream<Uint8Array>> {
    if (this.#waiting > this.#options.waitingMax) {
      throw Failure.plain(429, "Cannot run the query: too many others are waiting");
    }
    this.#waiting++;
    const parts = this.#last.then(() => this.#run(query)).finally(() => this.#waiting--);
    this.#last = parts.catch(() => {});
    return streamOf(await parts);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #run(query: Query): Promise<readonly Uint8Array[]> {
    const { clock, flush, limits, log } = this.#options;
    await flush();
    const now = clock.now();
    // Set for each query, since the runtime may replace the connection. Only queries use LIKE.
    this.#storage.sql.exec("pragma case_sensitive_like = on");
    const database = new DurableQueries(this.#storage, () => {
      if (clock.now() - now > limits.timeMs) throw tooSlow(limits.timeMs);
    });
    return await runDirect(database, { ...query, now }, {
      ...limits,
      warn: query.warn,
      unreadable: (row) => log("error", "A stored row is damaged and cannot be read", { ...row }),
    });
  }
}

/** Single rows that are read between two pauses. */
const ROWS_PER_PAUSE = 100;

class DurableQueries implements DirectDatabase {
  readonly #storage: QueryStorage;
  readonly check: () => void;
  #rows = 0;

  constructor(storage: QueryStorage, check: () => void) {
    this.#storage = storage;
    this.check = check;
  }

  *open(sql: string, args: readonly Bound[] = []): Generator<Row> {
    try {
      for (const row of this.#storage.sql.exec(sql, ...args).raw()) {
        yield row.map((value) => value instanceof ArrayBuffer ? new Uint8Array(value) : value);
      }
    } catch (cause) {
      throw named(cause);
    }
  }

  async row(sql: string, args: readonly Bound[] = []): Promise<Row | undefined> {
    if (++this.#rows % ROWS_PER_PAUSE === 0) await this.pause();
    // Read to the end: a statement that is not finished keeps its snapshot of the database.
    const [row] = [...this.open(sql, args)];
    return row;
  }

  undone<T>(act: () => T): T {
    const undo = new Error("Undone");
    let result: { readonly value: T } | undefined;
    try {
      this.#storage.transactionSync(() => {
        result = { value: act() };
        throw undo;
      });
    } catch (cause) {
      if (cause !== undo || !result) throw cause;
    }
    return (result as { readonly value: T }).value;
  }

  pause(): Promise<void> {
    // The clock of an isolate advances only between events.
    return new Promise((resolve) => setTimeout(resolve, 0));
  }
}

/** An error of the database as `Failure`, without the name of its code at the end. */
function named(cause: unknown): unknown {
  if (cause instanceof Failure || !(cause instanceof Error)) return cause;
  return failed(`Cannot run the query: ${cause.message.replace(/: SQLITE_\w+$/, "")}`, { cause });
}

/** A stream of parts that are already complete. */
function streamOf(parts: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const rest = parts.values();
  return new ReadableStream({
    pull(controller) {
      const { value, done } = rest.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}
