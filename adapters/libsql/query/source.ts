import type { QuerySource } from "../../../src/introspection/copy/source.ts";
import { failed } from "../../../src/introspection/refusal.ts";
import type { Row } from "../../../src/introspection/render/format.ts";
import type { QueryLimits } from "../../../src/introspection/request.ts";
import { Failure } from "../../../src/errors.ts";
import type { SqlClient, Statement } from "../../../src/ports.ts";
import { withRetries } from "../../../src/storage/retry.ts";
import { QueryConnection } from "./database.ts";
import type { FileAddress, QueryAddress } from "./messages.ts";
import { openRemote } from "../remote/open.ts";
import { RemoteError } from "../remote/error.ts";
import { clock } from "../../platform/clock.ts";

/** How long a lost request is retried: kept connections may have been closed. */
const RETRY_MS = 2000;

/** A source for one query. */
export interface OpenedSource extends QuerySource {
  close(): void;
}

/** Opens databases for queries, by connections of their own. */
export class Sources {
  readonly #limits: QueryLimits;
  /** Clients of servers, by address: their connections are kept. */
  readonly #clients = new Map<QueryAddress, SqlClient>();

  constructor(limits: QueryLimits) {
    this.#limits = limits;
  }

  /** Opens a database. Rejects with a `Failure` when it is missing. */
  async open(address: QueryAddress): Promise<OpenedSource> {
    if (address.kind === "file") return await fileSource(address, this.#limits);
    let client = this.#clients.get(address);
    if (!client) {
      const timeoutMs = Math.min(address.timeoutMs, this.#limits.timeMs);
      const opened = await openRemote({ ...address, timeoutMs });
      client = this.#clients.get(address) ?? opened;
      this.#clients.set(address, client);
    }
    return serverSource(client);
  }
}

/** A file, over a connection whose reads are one snapshot. */
async function fileSource(file: FileAddress, limits: QueryLimits): Promise<OpenedSource> {
  const connection = await QueryConnection.open(file, limits);
  let begun: Promise<void> | undefined;
  const ask = async ({ sql, args }: Statement): Promise<readonly Row[]> =>
    await connection.rows(sql, args);
  return {
    async read(statements) {
      await (begun ??= connection.run("begin"));
      const pages: (readonly Row[])[] = [];
      for (const one of statements) pages.push(await ask(one));
      return pages;
    },
    close: () => connection.close(),
  };
}

/** A server, where each page is a snapshot of its own. */
function serverSource(client: SqlClient): OpenedSource {
  return {
    async read(statements) {
      const read = () => client.batch("read", statements);
      try {
        const pages = await withRetries(client, read, { clock, retryMs: RETRY_MS });
        return pages.map((rows) => rows.map((row) => Object.values(row) as unknown as Row));
      } catch (cause) {
        throw cause instanceof RemoteError ? unreadable(cause) : cause;
      }
    },
    close: () => {},
  };
}

/** The failure of a query. Its message does not name the database, which is in its cause. */
function unreadable(cause: RemoteError): Failure {
  if (!cause.isLost) return failed(`Cannot run the query: a database refuses it`, { cause });
  return Failure.plain(503, "Cannot run the query: a database does not answer", { cause });
}
