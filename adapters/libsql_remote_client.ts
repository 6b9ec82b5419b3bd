import type { Client, createClient, InArgs } from "@libsql/client/http";
import type { SqlClient, SqlRow, Statement } from "../src/ports.ts";
import { isRefused, plain } from "./libsql_answer.ts";
import type { PostRequest, RemoteOptions } from "./libsql_remote.ts";
import type { RemoteAddress } from "./libsql_remote_address.ts";
import { isTooLarge, RemoteError } from "./libsql_remote_error.ts";
import { readInPages } from "./libsql_remote_pages.ts";

const TIMEOUT_MS = 10_000;
const BYTES_PER_MS = 1_000;

/** See `openRemote`. `create`: what loads slowly, and so not before it is needed. */
export function remoteClient(
  create: typeof createClient,
  { url, authToken, timeoutMs = TIMEOUT_MS, post }: RemoteOptions,
): SqlClient {
  const send = post ?? ((to: string, request: PostRequest) => fetch(to, request));
  const client = create({
    url,
    ...(authToken === "" ? {} : { authToken }),
    // Whatever passes here is a request that the client has made for `fetch`.
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
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: Client, address: RemoteAddress) {
    this.#client = client;
    this.#address = address;
  }

  batch(mode: "read" | "write", statements: readonly Statement[]): Promise<SqlRow[][]> {
    if (mode === "read") return this.#read(statements);
    const done = this.#last.then(() => this.#ask(mode, statements));
    this.#last = done.catch(() => {});
    return done;
  }

  isRefused(cause: unknown): boolean {
    return isRefused(cause);
  }

  isLost(cause: unknown): boolean {
    return cause instanceof RemoteError && cause.isLost;
  }

  async close(): Promise<void> {
    await this.#last;
    if (!this.#client.closed) this.#client.close();
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
      // A statement by itself is a transaction of its own. But what is read as a write has to be in
      // one that writes.
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
