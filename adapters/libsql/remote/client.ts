import type { Client, createClient, InArgs } from "@libsql/client/http";
import type { SqlClient, SqlRow, Statement } from "../../../src/ports.ts";
import { isRefused, plain } from "../sql_error.ts";
import type { PostRequest, RemoteOptions } from "./open.ts";
import type { RemoteAddress } from "./address.ts";
import { isTooLarge, RemoteError } from "./error.ts";
import { readInPages } from "./pages.ts";

/**
 * Write batches that are in flight at once. A server runs one after the other, and refuses one that
 * waits for more than 100 ms (docs/spec/storage-layout.md#remote-databases): then it is retried.
 */
const WRITES_MAX = 4;
const TIMEOUT_MS = 10_000;
const BYTES_PER_MS = 1_000;

/** See `openRemote`. `create`: of the libSQL client, which loads slowly. */
export function remoteClient(
  create: typeof createClient,
  { url, authToken, timeoutMs = TIMEOUT_MS, post }: RemoteOptions,
): SqlClient {
  // Redirects are not followed: the token and the rows are for this server.
  const send = post ??
    ((to: string, request: PostRequest) => fetch(to, { ...request, redirect: "manual" }));
  const client = create({
    url,
    ...(authToken === "" ? {} : { authToken }),
    // The client calls this in place of `fetch`.
    fetch: async (request: Request) => {
      const body = new Uint8Array(await request.arrayBuffer());
      const signal = AbortSignal.timeout(timeoutMs + Math.ceil(body.length / BYTES_PER_MS));
      const { method, headers } = request;
      return await send(request.url, { method, headers, body, signal });
    },
  });
  return new RemoteClient(client, { url, authToken });
}

class RemoteClient implements SqlClient {
  readonly #client: Client;
  readonly #address: RemoteAddress;
  readonly #waiting: (() => void)[] = [];
  #writing = 0;

  constructor(client: Client, address: RemoteAddress) {
    this.#client = client;
    this.#address = address;
  }

  batch(mode: "read" | "write", statements: readonly Statement[]): Promise<SqlRow[][]> {
    return mode === "read" ? this.#read(statements) : this.#write(statements);
  }

  isRefused(cause: unknown): boolean {
    return isRefused(cause);
  }

  isLost(cause: unknown): boolean {
    return cause instanceof RemoteError && cause.isLost;
  }

  async close(): Promise<void> {
    while (this.#writing > 0) await this.#turn();
    for (const call of this.#waiting.splice(0)) call();
    if (!this.#client.closed) this.#client.close();
  }

  /** Writes a few batches at a time, in no certain order: a caller that needs one awaits each. */
  async #write(statements: readonly Statement[]): Promise<SqlRow[][]> {
    if (this.#writing >= WRITES_MAX) await this.#turn();
    this.#writing++;
    try {
      return await this.#ask("write", statements);
    } finally {
      this.#writing--;
      this.#waiting.shift()?.();
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async #read(statements: readonly Statement[]): Promise<SqlRow[][]> {
    try {
      return await this.#ask("read", statements);
    } catch (cause) {
      if (!isTooLarge(cause)) throw cause;
      const read = (one: Statement) => this.#ask("read", [one]).then(([rows = []]) => rows);
      return await readInPages(statements, read);
    }
  }

  async #ask(mode: "read" | "write", statements: readonly Statement[]): Promise<SqlRow[][]> {
    const [first, ...others] = statements.map(({ sql, args }) => ({ sql, args: args as InArgs }));
    if (!first) return [];
    try {
      // A single statement is a transaction. But a `select` in write mode needs a write transaction.
      const isAlone = others.length === 0 && (mode === "read" || !/^\s*select/.test(first.sql));
      const results = isAlone
        ? [await this.#client.execute(first)]
        : await this.#client.batch([first, ...others], mode);
      return results.map(({ rows }) => rows.map(plain));
    } catch (cause) {
      throw new RemoteError(cause, this.#address);
    }
  }
}
