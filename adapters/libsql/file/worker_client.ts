import type { Worker } from "node:worker_threads";
import type { SqlClient, SqlRow, Statement } from "../../../src/ports.ts";
import { isRefused, SqlError } from "../sql_error.ts";
import type { FileOptions } from "./local_client.ts";
import { packStatements, type PortableStatement, unpackRows } from "./worker_messages.ts";

/** From the main thread to the worker. */
export type Request =
  | { readonly id: number; readonly kind: "open"; readonly options: FileOptions }
  | {
    readonly id: number;
    readonly kind: "batch";
    readonly mode: "read" | "write";
    readonly statements: readonly PortableStatement[];
    readonly isLazy: boolean;
  }
  | { readonly id: number; readonly kind: "close" };

/** From the worker, one for each request, in their order. */
export type Response =
  | { readonly id: number; readonly rows: SqlRow[][] }
  | { readonly id: number; readonly message: string; readonly code: string };

interface Waiter {
  readonly resolve: (rows: SqlRow[][]) => void;
  readonly reject: (cause: unknown) => void;
}

/** A database in another thread. */
export class WorkerClient implements SqlClient {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiter>();
  #id = 0;
  #ended: SqlError | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (response: Response) => this.#answer(response));
    worker.on(
      "error",
      (cause) =>
        this.#end(new SqlError(`The database thread failed: ${cause}`, "THREAD", { cause })),
    );
    worker.on("exit", () => this.#end(new SqlError("The database is closed", "CLIENT_CLOSED")));
  }

  async open(options: FileOptions): Promise<void> {
    await this.#ask({ id: ++this.#id, kind: "open", options });
  }

  batch(
    mode: "read" | "write",
    statements: readonly Statement[],
    isLazy = false,
  ): Promise<SqlRow[][]> {
    const { statements: sent, moved } = packStatements(statements);
    return this.#ask({ id: ++this.#id, kind: "batch", mode, statements: sent, isLazy }, moved);
  }

  isRefused(cause: unknown): boolean {
    return isRefused(cause);
  }

  async close(): Promise<void> {
    if (this.#ended) return;
    const closed = this.#ask({ id: ++this.#id, kind: "close" });
    // Later requests are rejected.
    const pending = new SqlError("The database is closed", "CLIENT_CLOSED");
    this.#ended = pending;
    await closed.catch(() => {});
    await this.#worker.terminate();
  }

  #ask(request: Request, moved: readonly ArrayBuffer[] = []): Promise<SqlRow[][]> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      this.#waiting.set(request.id, { resolve, reject });
      this.#worker.postMessage(request, moved);
    });
  }

  #answer(response: Response): void {
    const waiter = this.#waiting.get(response.id);
    this.#waiting.delete(response.id);
    if ("rows" in response) {
      unpackRows(response.rows);
      waiter?.resolve(response.rows);
    } else waiter?.reject(new SqlError(response.message, response.code));
  }

  #end(error: SqlError): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
